"""The design under test: what ``RTL=`` names, read once, with everything its sources include.

A command line makes one ``Design`` and hands it on. Its hash covers every file that a compiler can
read for it, and builds compile the bytes that were hashed, not the files as they are by then.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from sim.engine.sources import DesignError, Sources, read_list
from sim.shared.files import digest
from sim.shared.paths import BUILD, RESULTS, ROOT, RTL, shown
from sim.shared.process import run_captured
from sim.shared.results import ResultFiles

LIST = "ga2.f"

# What the testbench asks to know how much it may compare.
RESERVED = ("GA2_ASSERT", "GA2_NETLIST")
_DEFINES = re.compile(rb"^(?!\s*//).*`(?:(?:define|undef)\s+(\w+)|undefineall)", re.MULTILINE)


@dataclass(frozen=True)
class Design:
    """A design, as it was when it was read.

    Attributes:
        path: its folder.
        sources: what its ``ga2.f`` names.
        contents: bytes of every file that can be read for it.
        hash: over names and contents, wherever the folder lies.
        revision: commit of the Git repository that tracks it, empty without one.
        dirty: a file differs from that commit.
        listed: it came from a list in its folder; a netlist, for example, does not.
    """

    path: Path
    sources: Sources = field(repr=False)
    contents: Mapping[Path, bytes] = field(repr=False)
    hash: str
    revision: str = ""
    dirty: bool = False
    listed: bool = True

    @classmethod
    def load(cls, path: Path = RTL) -> Design:
        """Read the design of a folder.

        Raises:
            DesignError: no such folder, no ``ga2.f``, or a file of it is missing.
        """
        folder = Path(os.path.abspath(path))
        if not folder.is_dir():
            raise DesignError(f"{path}: no such folder; give that of a design, with its {LIST}")
        if not (folder / LIST).is_file():
            raise DesignError(f"{path}: holds no {LIST}, the list of the design's files")
        sources = read_list(folder / LIST)
        if not sources.files:
            raise DesignError(f"{path}/{LIST}: names no file")
        contents = sources.contents()
        check_macros(folder / LIST, sources, contents)
        known = hash_of(folder, sources, contents)
        return cls(folder, sources, contents, known, *_revision(folder, list(contents)))

    @classmethod
    def of_files(cls, folder: Path, files: Sequence[Path]) -> Design:
        """Take files for a design that has no list: a netlist of ``folder`` with its cells.

        Raises:
            DesignError: a file cannot be read.
        """
        sources = Sources(tuple(files))
        contents = sources.contents()
        return cls(folder, sources, contents, hash_of(folder, sources, contents), listed=False)

    @property
    def is_own(self) -> bool:
        """Whether it is this project's design."""
        return self.path.resolve() == RTL

    def __str__(self) -> str:
        """Path, hash and revision, for a reader."""
        revision = f", revision {self.revision[:10]}{' and changes' if self.dirty else ''}"
        return f"{shown(self.path)} ({self.hash}{revision if self.revision else ''})"

    def to_json(self) -> dict[str, Any]:
        """The stamp of every result: which design it is about."""
        return {
            "path": shown(self.path),
            "hash": self.hash,
            "revision": self.revision,
            "dirty": self.dirty,
        }

    def output(self, name: str) -> Path:
        """Folder ``name`` of outputs: ``build/<name>``, for another design one of its own."""
        if self.is_own:
            return BUILD / name
        path = self.path.resolve()
        parts = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ()
        if parts and all(re.fullmatch(r"[\w-]+", part) for part in parts):
            return BUILD / "designs" / ".".join(parts) / name
        # Simulators take their arguments apart at blanks.
        title = re.sub(r"[^\w.-]+", "-", path.name)
        return BUILD / "designs" / f"{title}-{digest(str(path))[:6]}" / name


def check_macros(path: Path, sources: Sources, contents: Mapping[Path, bytes]) -> None:
    """Refuse a design that changes macros of the testbench: with it less would be compared.

    Raises:
        DesignError: with the place and the macro.
    """
    changed = {(path, name.partition("=")[0]) for name in sources.defines}
    for file, text in contents.items():
        changed |= {(file, name.decode() or RESERVED[0]) for name in _DEFINES.findall(text)}
    for file, name in sorted(changed):
        if name in RESERVED:
            raise DesignError(f"{file}: changes {name}, a macro of the testbench: use another")


def add_design_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--rtl``, which gives ``design``: what every front end that looks at a design takes."""
    parser.add_argument(
        "--rtl",
        dest="design",
        metavar="FOLDER",
        type=design_option,
        default=str(RTL),
        help="folder of the design, with its ga2.f",
    )


def make_settings(sim: str, design: Design) -> str:
    """What a command of make must say to play on the same: ``SIM=``, ``RTL=`` and ``VENV=``."""
    words = [f"SIM={sim}"]
    if not design.is_own:
        words.append(f"RTL={shlex.quote(shown(design.path))}")
    if Path(sys.prefix) != ROOT / ".venv":
        words.append(f"VENV={shlex.quote(shown(Path(sys.prefix)))}")
    return " ".join(words)


def random_command(settings: str, seed: int) -> str:
    """What plays one random program again, with places for ``{profile}`` and ``{index}``."""
    return f"make random {settings} SEED={seed} PROFILE={{profile}} ONLY={{index}} WAVES=1"


def show_report(design: Design) -> str:
    """The command that makes the report about a design."""
    return "make report" + ("" if design.is_own else f" RTL={shlex.quote(shown(design.path))}")


def python_command() -> str:
    """This interpreter, as a command is given it in the project's folder."""
    return shlex.quote(shown(Path(sys.executable)))


def print_design(console: Console, design: Design) -> None:
    """Say which design a run is about when it is not this project's."""
    if not design.is_own:
        console.print(f"design: {escape(str(design))}", soft_wrap=True)


def design_option(text: str) -> Design:
    """Read the value of ``--rtl`` for argparse."""
    try:
        return Design.load(Path(text))
    except DesignError as error:
        raise argparse.ArgumentTypeError(f"RTL={error}") from None


def design_files(name: str, design: Design, folder: Path | None, **head: Any) -> ResultFiles:
    """Return the result files of a run on a design: in ``folder``, or among the design's own."""
    return ResultFiles(name, folder or design.output(RESULTS.name), design=design.to_json(), **head)


def design_of(rtl: Path | Design) -> Design:
    """The design itself, or that of a folder. Raises DesignError when there is none."""
    return rtl if isinstance(rtl, Design) else Design.load(rtl)


@lru_cache
def own_design() -> Design:
    """The project's own design, read once in a process."""
    return Design.load(RTL)


def hash_of(folder: Path, sources: Sources, contents: Mapping[Path, bytes]) -> str:
    """Hash over order, options, names relative to ``folder``, and contents."""
    named = [os.path.relpath(path, folder) for path in (*sources.files, *sources.include_dirs)]
    read: list[str | bytes] = []
    for path in sorted(contents):
        read += [os.path.relpath(path, folder), contents[path]]
    return digest(*named, "", *sources.defines, "", *read)


def _revision(folder: Path, files: Sequence[Path]) -> tuple[str, bool]:
    """Commit that tracks ``ga2.f``, and whether any of the files differs from it.

    A file that lies outside the repository, if only by a link, is not what the commit says.
    """
    real = [path.resolve() for path in (folder / LIST, *files)]
    around = [folder.resolve(), *folder.resolve().parents]
    top = next((place for place in around if (place / ".git").exists()), None)
    if top is None:
        return "", False
    inside = [str(path) for path in real if path.is_relative_to(top)]
    # A hook of Git runs with the names of its own repository in the environment.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    flags = ("--porcelain=v2", "--branch", "--ignored", "--untracked-files=all")
    try:
        command = ["git", "status", *flags, "--", *inside]
        done = run_captured(command, cwd=top, env=env)
    except OSError:
        return "", False
    lines = done.stdout.splitlines()
    commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid")), "")
    changed = [line for line in lines if re.match("[12u?!] ", line)]
    tracked = not any(re.match(rf"[?!] (.*/)?({re.escape(LIST)})?$", line) for line in changed)
    if done.returncode or not tracked or commit == "(initial)":
        return "", False
    return commit, bool(changed) or len(inside) < len(real)
