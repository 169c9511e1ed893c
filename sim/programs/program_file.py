"""Programs and memory images as files: assembly or hexadecimal in, hexadecimal out."""

from __future__ import annotations

import re
from pathlib import Path

from model.chip.assembler import assemble
from model.chip.image import ImageError, Words, format_hex, parse_hex
from model.chip.machine import MAX_PROGRAM
from sim.shared.errors import UsageError

WORD_DIGITS = 32  # of a 128-bit instruction


def read_program(name: str) -> list[int]:
    """Read ``.hex`` (one instruction of 32 digits a line) or anything else as assembly.

    Raises:
        UsageError: a name that is empty, a line that is no instruction, or a program too long.
        AssemblyError: see ``model.chip.assembler.assemble``.
        OSError: a file that cannot be read.
    """
    if not name:
        raise UsageError("PROGRAM is empty: give a file, as in PROGRAM=examples/attention.asm")
    text = _read_text(name)
    try:
        words = _parse_words(text) if Path(name).suffix == ".hex" else assemble(text)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    if len(words) > MAX_PROGRAM:
        raise UsageError(f"{name}: {len(words)} instructions, at most {MAX_PROGRAM} fit")
    return words


def read_image(name: str, depth: int, memory: str = "an external memory") -> Words:
    """Read 32-bit words, one a line, for a memory of ``depth`` words.

    Raises:
        UsageError: not such a file, or too many words.
        OSError: a file that cannot be read.
    """
    try:
        image = parse_hex(_read_text(name))
    except ImageError as error:
        raise UsageError(f"{name}: {error}") from None
    if image.size > depth:
        raise UsageError(f"{name}: {image.size} words do not fit {memory} of {depth}")
    return image


def write_image(name: str, words: Words) -> None:
    """Write 32-bit words, one a line."""
    Path(name).write_text(format_hex(words))


def _read_text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{name}: not a text file") from None


def _parse_words(text: str) -> list[int]:
    words = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("//", 1)[0].split(";", 1)[0].strip().replace("_", "")
        if not line:
            continue
        if not re.fullmatch(rf"[0-9a-fA-F]{{{WORD_DIGITS}}}", line):
            raise UsageError(
                f"line {number}: {raw.strip()!r}: an instruction is {WORD_DIGITS} hex digits"
            )
        words.append(int(line, 16))
    return words
