"""Compiled simulators, each in a folder named after a hash of what went into it.

cocotb's makefile does not rebuild when only options change, and a shared folder must not be
rebuilt under a running simulation. So a build is made in a temporary folder under a lock, then
renamed; whoever asks for the same sources and options again gets the same folder.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sim.shared.errors import ToolError
from sim.shared.files import locked
from sim.shared.paths import BUILD, HDL, ROOT, RTL, SIMULATORS

ENGINE = Path(__file__).resolve().parent
MAKEFILE = ENGINE / "cocotb.mk"
PUBLIC = ENGINE / "public.vlt"
COVERAGE = ENGINE / "coverage.vlt"
TOP = "ga2_tb"

BINARIES = {"icarus": "sim.vvp", "verilator": "Vtop"}
COMPILERS = {"icarus": "iverilog", "verilator": "verilator"}


class BuildError(ToolError):
    """The simulator could not be built; the message ends with the compiler's own words."""


@dataclass(frozen=True)
class Build:
    """A compiled simulator.

    Attributes:
        sim: ``icarus`` or ``verilator``.
        folder: where it lies.
        sources: what it was made of.
        waves: file suffix of the waves it can write: ``fst``, ``vcd`` or empty for none.
    """

    sim: str
    folder: Path
    sources: tuple[Path, ...]
    waves: str

    @property
    def binary(self) -> Path:
        """The file that the simulator runs."""
        return self.folder / BINARIES[self.sim]


def file_list(path: Path) -> list[Path]:
    """Sources named in a ``.f`` file, one a line, relative to its folder."""
    lines = [line.split("//")[0].strip() for line in path.read_text().splitlines()]
    return [path.parent / line for line in lines if line]


def rtl_sources(rtl: Path) -> list[Path]:
    """Sources of the design in the folder ``rtl``, in the order of its ``ga2.f``."""
    return file_list(rtl / "ga2.f")


def testbench_sources() -> list[Path]:
    """Sources of the HDL testbench, top last."""
    return file_list(HDL / "tb.f")


def tool_environment() -> dict[str, str]:
    """Environment in which make finds the project's Python, cocotb and Verilator first."""
    env = dict(os.environ)
    python = Path(sys.executable).parent
    env["PATH"] = os.pathsep.join([str(python), str(ROOT / "sim" / "setup"), env.get("PATH", "")])
    if sys.prefix != sys.base_prefix:
        env["VIRTUAL_ENV"] = sys.prefix
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    return env


@lru_cache
def compiler_version(sim: str) -> str:
    """What the compiler says about itself; part of the hash."""
    flag = {"icarus": "-V", "verilator": "--version"}[sim]
    try:
        done = subprocess.run(
            [COMPILERS[sim], flag], env=tool_environment(), capture_output=True, text=True
        )
    except FileNotFoundError:
        raise BuildError(f"{COMPILERS[sim]} is not installed: run 'make setup'") from None
    return (done.stdout or done.stderr).partition("\n")[0]


@lru_cache
def wave_suffix() -> str:
    """``fst`` when Verilator's FST writer compiles (liblz4-dev, zlib1g-dev), else ``vcd``."""
    program = "#include <lz4.h>\n#include <zlib.h>\n"
    done = subprocess.run(
        ["c++", "-E", "-x", "c++", "-", "-o", os.devnull],
        input=program,
        env=tool_environment(),
        capture_output=True,
        text=True,
    )
    return "fst" if done.returncode == 0 else "vcd"


def compile_options(
    sim: str, waves: bool, coverage: bool, defines: Sequence[str]
) -> tuple[list[str], str]:
    """Options for the compiler, and the suffix of the waves the build can write."""
    options = [f"-D{define}" for define in defines]
    suffix = ""
    if sim == "icarus":
        # Icarus decides at run time, in every build.
        return ["-Wall", *options], "fst"
    if waves:
        suffix = wave_suffix()
        options += [f"--trace-{suffix}", "--trace-structs"]
    if coverage:
        # Not --coverage: that has coverage of state machines too, which fails on this design.
        options += [f"--coverage-{kind}" for kind in ("line", "toggle", "expr")] + [str(COVERAGE)]
    return options, suffix


def build(
    sim: str,
    *,
    waves: bool = False,
    coverage: bool = False,
    rtl: Path = RTL,
    sources: Sequence[Path] | None = None,
    defines: Sequence[str] = (),
    options: Sequence[str] = (),
    bench: Sequence[Path] | None = None,
    top: str = TOP,
) -> Build:
    """Compile the testbench with a design, or find it compiled.

    Args:
        sim: ``icarus`` or ``verilator``.
        waves: able to write waves (Icarus always is).
        coverage: with Verilator's code coverage.
        rtl: folder of the design with its ``ga2.f``.
        sources: the design's files instead of those of ``rtl``'s list (a netlist, a mutant).
        defines: macros, ``NAME`` or ``NAME=VALUE``; ``GA2_NETLIST`` leaves out what looks inside
            the design.
        options: more options for the compiler.
        bench: files of another bench instead of the testbench (the unit tests').
        top: its top module.

    Raises:
        BuildError: it does not compile, or the compiler is missing.
    """
    if sim not in SIMULATORS:
        raise BuildError(f"simulator {sim!r} is none of: {', '.join(SIMULATORS)}")
    design = list(sources) if sources is not None else rtl_sources(rtl)
    files = [*design, *(testbench_sources() if bench is None else bench)]
    extra, suffix = compile_options(sim, waves, coverage, defines)
    extra += options
    folder = BUILD / f"{sim}-{fingerprint(sim, files, extra)}"
    made = Build(sim, folder, tuple(files), suffix)
    if not made.binary.exists():
        with locked(folder):
            if not made.binary.exists():
                make_build(made, extra, top)
    return made


def fingerprint(sim: str, files: Sequence[Path], options: Sequence[str]) -> str:
    """Hash of sources, options, versions and the files that say how to build."""
    digest = hashlib.sha256()
    for text in (compiler_version(sim), sys.version, sys.prefix, *options):
        digest.update(text.encode() + b"\0")
    extra = [COVERAGE] if str(COVERAGE) in options else []
    for path in (*files, MAKEFILE, PUBLIC, *extra):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def make_build(made: Build, options: Sequence[str], top: str = TOP) -> None:
    """Compile in a temporary folder beside the final one, then rename."""
    temporary = Path(tempfile.mkdtemp(prefix=f".{made.folder.name}-", dir=BUILD))
    try:
        done = subprocess.run(
            [
                *("make", f"-j{len(os.sched_getaffinity(0))}", "-f", str(MAKEFILE), "ga2-build"),
                f"SIM={made.sim}",
                *(f"SIM_BUILD={temporary}", f"COCOTB_TOPLEVEL={top}"),
                f"VERILOG_SOURCES={' '.join(str(path) for path in made.sources)}",
                f"GA2_COMPILE={' '.join(options)}",
            ],
            cwd=ROOT,
            env=tool_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        (temporary / "build.log").write_text(done.stdout)
        if done.returncode or not (temporary / BINARIES[made.sim]).exists():
            raise BuildError(f"{made.sim} does not build:\n{tail(done.stdout)}")
        shutil.rmtree(made.folder, ignore_errors=True)
        temporary.rename(made.folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def tail(text: str, lines: int = 30) -> str:
    """The last lines of a log."""
    return "\n".join(text.splitlines()[-lines:])
