"""Names of the signals in a wave file, FST or VCD, without reading any values.

FST is a row of blocks: a byte of type, eight bytes of length, data. One of them holds the
hierarchy, compressed with gzip or LZ4: scopes and variables in the order of declaration. (The
format is that of GTKWave's fstapi.)
"""

from __future__ import annotations

import gzip
import re
import struct
from collections.abc import Iterator
from pathlib import Path

GZIP, LZ4, LZ4_TWICE = 4, 6, 7
SCOPE, UPSCOPE, ATTRIBUTE, ATTRIBUTE_END = 254, 255, 252, 253
VCD_HEADER = re.compile(
    r"\$scope\s+\S+\s+(?P<scope>\S+)\s+\$end|\$upscope\s+\$end"
    r"|\$var\s+\S+\s+\d+\s+\S+\s+(?P<name>\S+)\s*(?P<range>\[[^\]]*\])?\s*\$end"
)


class WaveError(ValueError):
    """A file that is not a complete wave file of a known format."""


def signal_names(path: Path) -> list[str]:
    """Return all signals with their scopes and ranges, as in ``ga2_tb.dut.pc_q[15:0]``.

    Raises:
        WaveError: the file is cut off, or of another format.
        OSError: it cannot be read.
    """
    try:
        if path.suffix == ".vcd":
            return list(_vcd_names(path))
        return list(_fst_names(_fst_hierarchy(path)))
    except (IndexError, struct.error, EOFError, gzip.BadGzipFile) as error:
        raise WaveError(f"{path}: not a complete wave file ({error})") from None


def _vcd_names(path: Path) -> Iterator[str]:
    header = ""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("$enddefinitions"):
                break
            header += line
        else:
            raise WaveError(f"{path}: no end of definitions")
    scopes: list[str] = []
    for match in VCD_HEADER.finditer(header):
        if match["scope"]:
            scopes.append(match["scope"])
        elif match["name"]:
            yield ".".join([*scopes, match["name"]]) + (match["range"] or "")
        else:
            scopes.pop()


def _fst_hierarchy(path: Path) -> bytes:
    """Return the uncompressed hierarchy of an FST file."""
    with open(path, "rb") as file:
        while kind := file.read(1):
            (length,) = struct.unpack(">Q", file.read(8))
            if kind[0] not in (GZIP, LZ4, LZ4_TWICE):
                file.seek(length - 8, 1)
                continue
            data = file.read(length - 8)
            (size,) = struct.unpack_from(">Q", data)
            if kind[0] == GZIP:
                return gzip.decompress(data[8:])[:size]
            if kind[0] == LZ4:
                return lz4_block(data[8:], size)
            (once,) = struct.unpack_from(">Q", data, 8)
            return lz4_block(lz4_block(data[16:], once), size)
    raise WaveError(f"{path}: no hierarchy, the simulator was cut off")


def _fst_names(data: bytes) -> Iterator[str]:
    scopes: list[str] = []
    at = 0
    while at < len(data):
        tag = data[at]
        at += 1
        if tag == UPSCOPE:
            scopes.pop()
        elif tag == SCOPE:
            name, at = _text(data, at + 1)
            _, at = _text(data, at)
            scopes.append(name)
        elif tag == ATTRIBUTE:
            _, at = _text(data, at + 2)
            _, at = _number(data, at)
        elif tag != ATTRIBUTE_END:
            name, at = _text(data, at + 1)
            _, at = _number(data, at)
            _, at = _number(data, at)
            yield ".".join([*scopes, name]).replace(" [", "[")


def _text(data: bytes, at: int) -> tuple[str, int]:
    """Return a string that ends with a zero, and where it ends."""
    end = data.find(0, at)
    if end < 0:
        raise IndexError("a name without an end")
    return data[at:end].decode("utf-8", "replace"), end + 1


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def lz4_block(data: bytes, size: int) -> bytes:
    """Decompress one LZ4 block of ``size`` bytes (lz4.org, block format description).

    Raises:
        IndexError: the block is cut off.
    """
    out = bytearray()
    at = 0
    while len(out) < size:
        token = data[at]
        literals, at = _lz4_length(data, at + 1, token >> 4)
        out += data[at : at + literals]
        at += literals
        if len(out) >= size:
            break
        back = data[at] | data[at + 1] << 8
        length, at = _lz4_length(data, at + 2, token & 15)
        if not 0 < back <= len(out):
            raise IndexError("a reference to before the start")
        for _ in range(length + 4):
            out.append(out[-back])
    return bytes(out)


def _lz4_length(data: bytes, at: int, length: int) -> tuple[int, int]:
    """Return a length that goes on while bytes are 255, and where it ends."""
    if length == 15:
        while True:
            byte = data[at]
            at += 1
            length += byte
            if byte < 255:
                break
    return length, at
