"""What the design itself complained of: $error, $warning, $fatal and assertions that failed.

Simulators print it on their standard output, which is a file here. The testbench reads what was
added to it while a program ran, so that each complaint is a mismatch of the program it belongs to.
"""

from __future__ import annotations

import ctypes
import os
import re
import stat

MOST_BYTES = 1 << 16  # kept in the file of what one program made the design say
MOST_COMPLAINTS = 1000  # told of one program

# Verilator: "[7] %Error: a.sv:3: Assertion failed in t: text"; Icarus: "ERROR: a.sv:3: text".
# $stop: "-Info: a.sv:3: Verilog $stop, ignored ..." and, at the limit of errors, "%Error: a.sv:3:
# Verilog $stop", where a line like the first may stand before it as its cause; "** VVP Stop(0) **",
# after which Icarus goes on as if nothing had been.
_COMPLAINT = re.compile(
    rb"^(?:\[\d+\] )?(?:%(?P<v>Error|Warning|Fatal)|(?P<i>ERROR|WARNING|FATAL))(?:-\w+)?: "
    rb"(?P<text>.*)|^-Info: (?P<ignored>.* Verilog \$stop), ignored|^\*\* VVP Stop\(\d+\) \*\*",
    re.MULTILINE,
)
_STOP = " Verilog $stop"
_libc = ctypes.CDLL(None)


def complaints_in(text: str | bytes) -> list[str]:
    """Return the complaints in a simulator's output, e.g. ``error: a.sv:3: text``."""
    found: list[str] = []
    before = ""
    for match in _COMPLAINT.finditer(text.encode() if isinstance(text, str) else text):
        line = match["text"] or match["ignored"] or b"Verilog $stop"
        said = line.decode(errors="replace").strip()
        place = said.removesuffix(_STOP)
        if place != said and before.startswith(place):
            continue
        before = said
        found.append(f"{(match['v'] or match['i'] or b'error').decode().lower()}: {said}")
        if len(found) == MOST_COMPLAINTS:
            break
    return found


class ComplaintReader:
    """Reads what this simulator's standard output got since the last look, when it is a file."""

    def __init__(self, descriptor: int = 1) -> None:
        self.descriptor = descriptor
        status = os.fstat(descriptor)
        self.readable = stat.S_ISREG(status.st_mode)
        self.path = f"/dev/fd/{descriptor}"
        self.offset = status.st_size

    def new(self) -> list[str]:
        """Return the complaints since the last call; of a flood the file keeps the first."""
        if not self.readable:
            return []
        _libc.fflush(None)
        begin, size = self.offset, os.fstat(self.descriptor).st_size
        if size <= begin:
            return []
        with open(self.path, "rb") as file:
            file.seek(begin)
            found = complaints_in(file.read())
        self.offset = min(size, begin + MOST_BYTES)
        if size > self.offset:
            os.truncate(self.path, self.offset)
        return found
