"""What the design itself complained of: $error, $warning, $fatal and assertions that failed.

Simulators print it on their standard output, which is a file here. The testbench reads what was
added to it while a program ran, so that each complaint is a mismatch of the program it belongs to.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat

MOST_BYTES = 1 << 16  # read of what one program made the design say; the rest is cut off the file

# Verilator: "[7] %Error: a.sv:3: Assertion failed in t: text"; Icarus: "ERROR: a.sv:3: text".
_COMPLAINT = re.compile(
    r"^(?:\[\d+\] )?(?:%(?P<v>Error|Warning|Fatal)|(?P<i>ERROR|WARNING|FATAL))(?:-\w+)?: "
    r"(?P<text>.*)",
    re.MULTILINE,
)
_libc = ctypes.CDLL(None)


def complaints_in(text: str) -> list[str]:
    """Return the complaints in a simulator's output, e.g. ``error: a.sv:3: text``."""
    return [
        f"{(match['v'] or match['i']).lower()}: {match['text'].strip()}"
        for match in _COMPLAINT.finditer(text)
        if not match["text"].endswith("Verilog $stop")  # says that it obeys the line before
    ]


class ComplaintReader:
    """Reads what this simulator's standard output got since the last look, when it is a file."""

    def __init__(self, descriptor: int = 1) -> None:
        self.descriptor = descriptor
        status = os.fstat(descriptor)
        self.readable = stat.S_ISREG(status.st_mode)
        self.path = f"/dev/fd/{descriptor}"
        self.offset = status.st_size

    def new(self) -> list[str]:
        """Return the complaints since the last call; a flood of them is cut."""
        if not self.readable:
            return []
        _libc.fflush(None)
        size = os.fstat(self.descriptor).st_size
        if size <= self.offset:
            return []
        begin, self.offset = self.offset, size
        with open(self.path, "rb") as file:
            file.seek(begin)
            data = file.read(MOST_BYTES)
        if size - begin > MOST_BYTES:
            self.offset = begin + MOST_BYTES
            os.truncate(self.path, self.offset)
        return complaints_in(data.decode(errors="replace"))
