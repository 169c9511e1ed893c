"""Faults planted in a copy of the design find their place by its structure, not by its lines."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sim.shared.files import digest, locked
from sim.shared.patch import PatchError, patch
from sim.shared.paths import BUILD

_INSTANCE = re.compile(r"^  (ga2_\w+) (?:#\(.*\) )?u_\w+ \(\n(.*?)^  \);", re.M | re.S)
_CONNECTION = re.compile(r"\.(\w+)(?:\((.*)\))?,?$", re.M)
_OUTPUT = re.compile(r"^ +output +(?:wire|logic)[^,;\n]*?(\w+),?(?: *//.*)?$", re.M)


def design_copy(source: Path, target: Path) -> Path:
    """Copy the design; returns the copy's folder."""
    shutil.copytree(source, target)
    return target


def kept(folder: Path) -> Path:
    """Move a design to a place named after its contents, where all that is built of it is found."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [str(path.relative_to(folder)) for path in files]
    target = BUILD / "tests" / f"rtl-{digest(*names, *files)}"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        own = Path(tempfile.mkdtemp(dir=target.parent)) / "rtl"
        shutil.move(folder, own)
        with suppress(OSError):  # another test was faster
            own.rename(target)
        shutil.rmtree(own.parent)
    return target


def change(folder: Path, file: str, old: str, new: str) -> None:
    """Replace the only ``old`` in a file of the copy. Raises PatchError."""
    path = folder / file
    path.write_text(patch(path.read_text(), old, new, file))


def redirect(folder: Path, text: str, net: str) -> str:
    """Let what drives ``net`` in the top's ``text`` drive ``<net>_ok``: an instance or an assign.

    Raises:
        PatchError: it is not driven in exactly one place.
    """
    places = [match.span(1) for match in re.finditer(rf"^  assign ({net}) =", text, re.M)]
    changes = [(*span, f"{net}_ok") for span in places]
    for start, end, module, port, connected in _connections(text):
        if connected == net and port in _OUTPUT.findall((folder / f"{module}.sv").read_text()):
            changes.append((start, end, f".{port}({net}_ok)"))
    if len(changes) != 1:
        raise PatchError(f"{net} is driven in {len(changes)} places of ga2.sv, not in one")
    start, end, new = changes[0]
    return text[:start] + new + text[end:]


def reconnect(text: str, module: str, port: str, net: str) -> tuple[str, str]:
    """Connect ``net`` to a port of the only instance of ``module``; returns what was there, too.

    Raises:
        PatchError: there is not exactly one such port.
    """
    found = [c for c in _connections(text) if c[2:4] == (module, port)]
    if len(found) != 1:
        raise PatchError(
            f"port {port} of {module} is connected {len(found)} times in ga2.sv, not once"
        )
    start, end, _, _, before = found[0]
    return f"{text[:start]}.{port}({net}){text[end:]}", before


def extend(text: str, declarations: str, body: str) -> str:
    """Put declarations behind the ports of the only module of ``text``, and a body at its end."""
    for place, new in ((r"^\);$", f");\n{declarations}"), (r"^endmodule$", f"{body}\nendmodule")):
        text, count = re.subn(place, lambda _, new=new: new, text, flags=re.M)
        if count != 1:
            raise PatchError(f"{place} occurs {count} times, not once: this is no single module")
    return text


def _connections(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Start, end, module, port and net of every connection."""
    for instance in _INSTANCE.finditer(text):
        for match in _CONNECTION.finditer(instance[2]):
            start = instance.start(2) + match.start()
            length = len(match[0].removesuffix(","))
            yield start, start + length, instance[1], match[1], match[2] or match[1]


@contextmanager
def kept_place(name: str) -> Iterator[Path]:
    """An empty folder, always at one place: what is built of its contents is found again."""
    folder = BUILD / "tests" / name
    with locked(folder):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        yield folder
