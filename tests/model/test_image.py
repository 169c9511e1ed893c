"""Memory images as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.chip.image import ImageError, format_hex, parse_hex


@given(st.lists(st.integers(0, (1 << 32) - 1), max_size=20))
def test_words_survive_the_text(words: list[int]) -> None:
    assert parse_hex(format_hex(words)).tolist() == words


def test_addresses_and_comments() -> None:
    text = "// weights\n1 2 /* not\n this 9 */ ff\n@6 DEADBEEF // last\n@4 7\n"
    assert parse_hex(text).tolist() == [1, 2, 0xFF, 0, 7, 0, 0xDEADBEEF]


def test_no_words_give_an_empty_image() -> None:
    assert parse_hex("// nothing\n").size == 0


@pytest.mark.parametrize("token", ["xyz", "123456789", "-1", "@", "@12g", "0x1", "_1", "_", "@_1"])
def test_what_is_no_hexadecimal_word_is_refused(token: str) -> None:
    with pytest.raises(ImageError, match=f"'{token}'"):
        parse_hex(f"1 {token}")


def test_underscores_group_digits() -> None:
    image = parse_hex("dead_beef @1_0 0_0_1_")
    assert (image.size, image[0], image[16]) == (17, 0xDEADBEEF, 1)


def test_a_byte_order_mark_is_no_word() -> None:
    assert parse_hex("\ufeff1 2").tolist() == [1, 2]
    with pytest.raises(ImageError, match="ufeff2"):
        parse_hex("1 \ufeff2")


@pytest.mark.parametrize("text", ["1 2 @1 7", "@1 7 @0 1 7"])
def test_an_address_given_twice_is_refused(text: str) -> None:
    with pytest.raises(ImageError, match="'7' lands at 0x1, which has a word already"):
        parse_hex(text)


def test_words_beyond_the_address_space_are_refused() -> None:
    assert parse_hex("@ffff 1").size == 65536
    with pytest.raises(ImageError, match="'2' lands at 0x10000"):
        parse_hex("@ffff 1 2")
