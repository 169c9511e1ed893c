"""Compiled simulators, each in a folder named after a hash of what went into it.

cocotb's makefile does not rebuild when only options change, and a shared folder must not be
rebuilt under a running simulation. So whoever asks for the same sources and options again gets the
same folder. A compiler is given copies of the files that were hashed, and nothing else to find, so
that no edit on the way and no file that nobody named gets into a build.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sim.engine.build_cache import cached, read_manifest
from sim.engine.compilers import (
    ANSWERS,
    BuildError,
    compilers,
    makefile_environment,
    wave_suffix,
)
from sim.engine.design import Design, design_of
from sim.engine.sources import Sources, read_list
from sim.engine.verilated import CompileError, compile_cpp
from sim.shared.files import digest
from sim.shared.paths import BUILD, HDL, ROOT, RTL, SIMULATORS
from sim.shared.process import run_to_end

ENGINE = Path(__file__).resolve().parent
MAKEFILE = ENGINE / "cocotb.mk"
PUBLIC = ENGINE / "public.vlt"
COVERAGE = ENGINE / "coverage.vlt"
MAIN = ENGINE / "main.cpp"
FLOW = Sources((MAKEFILE, PUBLIC, COVERAGE, MAIN))
TOP = "ga2_tb"
SNAPSHOT = "src"  # subfolder of a build: the files that were compiled

BINARIES = {"icarus": "sim.vvp", "verilator": "Vtop"}
# What make and the simulator need of a build; the rest may go.
PRODUCTS = {"icarus": ("sim.vvp",), "verilator": ("Vtop", "Vtop.mk")}


@dataclass(frozen=True)
class Build:
    """A compiled simulator.

    Attributes:
        sim: ``icarus`` or ``verilator``.
        folder: where it lies.
        waves: file suffix of the waves it can write: ``fst``, ``vcd`` or empty for none.
    """

    sim: str
    folder: Path
    waves: str

    @property
    def binary(self) -> Path:
        """The file that the simulator runs."""
        return self.folder / BINARIES[self.sim]


def compile_options(
    sim: str, waves: bool, coverage: bool, defines: Sequence[str]
) -> tuple[list[str], str]:
    """Options for the compiler, and the suffix of the waves the build can write."""
    options = [f"-D{define}" for define in defines]
    if not coverage:  # the arm in which an assertion fails cannot be covered
        options.append("-DGA2_ASSERT")
    suffix = ""
    if sim == "icarus":
        # Icarus decides at run time, in every build.
        return ["-Wall", *options], "fst"
    # Else a module of the design would take the place of one of the testbench that has its name.
    options.append("-Werror-MODDUP")
    if waves:
        suffix = wave_suffix()
        options += [f"--trace-{suffix}", "--trace-structs"]
    if coverage:
        # Not --coverage: that has coverage of state machines too, which fails on this design.
        options += [f"--coverage-{kind}" for kind in ("line", "toggle", "expr")] + [place(COVERAGE)]
    return options, suffix


def build(
    sim: str,
    *,
    waves: bool = False,
    coverage: bool = False,
    rtl: Path | Design = RTL,
    defines: Sequence[str] = (),
    options: Sequence[str] = (),
    bench: Sequence[Path] | None = None,
    top: str = TOP,
    cocotb_main: bool = False,
) -> Build:
    """Compile the testbench with a design, or find it compiled.

    Args:
        sim: ``icarus`` or ``verilator``.
        waves: able to write waves (Icarus always is).
        coverage: with Verilator's code coverage.
        rtl: the design, or its folder with its ``ga2.f``.
        defines: macros, ``NAME`` or ``NAME=VALUE``; ``GA2_NETLIST`` leaves out what looks inside
            the design.
        options: more options for the compiler.
        bench: files of another bench instead of the testbench (the unit tests').
        top: its top module.
        cocotb_main: with cocotb's main program in Verilator, as always with waves or coverage.

    Raises:
        BuildError: it does not compile, or the compiler is missing.
        DesignError: there is no such design.
    """
    if sim not in SIMULATORS:
        raise BuildError(f"simulator {sim!r} is none of: {', '.join(SIMULATORS)}")
    design = design_of(rtl)
    around = read_list(HDL / "tb.f") if bench is None else Sources(tuple(bench))
    extra, suffix = compile_options(sim, waves, coverage, [*design.sources.defines, *defines])
    inputs = Inputs(
        top,
        (*design.sources.files, *around.files),
        (*design.sources.search, *around.search),
        (*extra, *options),
        {**design.contents, **around.contents(), **FLOW.contents()},
        "" if cocotb_main or waves or coverage else str(MAIN),
    )
    made = Build(sim, BUILD / f"{sim}-{inputs.fingerprint(sim)}", suffix)
    request = make_request(design, coverage, defines, options, bench, top)
    cached(made.folder, PRODUCTS[sim], partial(compile_into, sim=sim, inputs=inputs), request)
    return made


def make_request(
    design: Design,
    coverage: bool = False,
    defines: Sequence[str] = (),
    options: Sequence[str] = (),
    bench: Sequence[Path] | None = None,
    top: str = TOP,
) -> dict[str, Any]:
    """Write down what a build is asked for, see ``build``."""
    return {
        "design": design.to_json(),
        "files": None if design.listed else [str(path) for path in design.sources.files],
        "coverage": coverage,
        "defines": [*defines],
        "options": [*options],
        "bench": None if bench is None else [str(path) for path in bench],
        "top": top,
    }


@dataclass(frozen=True)
class Inputs:
    """What goes into a build.

    Attributes:
        top: module.
        files: to compile, in order.
        search: folders of included files, in order.
        options: for the compiler.
        contents: bytes of every file that can be read.
        main: C++ file of Verilator's main program; empty for cocotb's.
    """

    top: str
    files: Sequence[Path]
    search: Sequence[Path]
    options: Sequence[str]
    contents: Mapping[Path, bytes]
    main: str = ""

    def fingerprint(self, sim: str) -> str:
        """Hash of it all, and of the tools."""
        tools = (*compilers(sim), sys.version, sys.prefix, version("cocotb"))
        placed = (*map(place, self.files), "", *map(place, self.search))
        read = [
            part for path in sorted(self.contents) for part in (place(path), self.contents[path])
        ]
        return digest(*tools, self.top, self.main, *self.options, "", *placed, "", *read)


def write_snapshot(contents: Mapping[Path, bytes], folder: Path) -> None:
    """Write files where a compiler that runs in ``folder`` finds them by their ``place``."""
    for path, data in contents.items():
        target = folder / place(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def place(path: Path) -> str:
    """Where a file lies in a snapshot: as in the project, so that messages name it.

    Without blanks and other characters that make or a shell would take for something else.
    """
    inside = path.is_relative_to(ROOT)
    return quote(str(path.relative_to(ROOT)) if inside else f"outside{path}")


def compile_into(folder: Path, sim: str, inputs: Inputs) -> None:
    """Compile a simulator into an empty folder.

    Raises:
        BuildError: it does not compile, or something was read that was not hashed.
    """
    snapshot = folder / SNAPSHOT
    write_snapshot(inputs.contents, snapshot)
    reads = {"icarus": folder / "reads", "verilator": folder / "Vtop__ver.d"}[sim]
    options = [*inputs.options, *(f"-I{place(path)}" for path in dict.fromkeys(inputs.search))]
    if sim == "icarus":
        options.append(f"-M{reads}")
    log = folder / "build.log"
    env = makefile_environment()
    code = run_to_end(
        [
            *("make", "-f", place(MAKEFILE), "ga2-build", f"PYTHON_BIN={ANSWERS}"),
            f"SIM={sim}",
            *(f"SIM_BUILD={folder}", f"COCOTB_TOPLEVEL={inputs.top}"),
            f"VERILOG_SOURCES={' '.join(map(place, inputs.files))}",
            f"GA2_COMPILE={' '.join(options)}",
            f"GA2_MAIN={inputs.main}",
        ],
        cwd=snapshot,
        env=env,
        log=log,
    )
    if sim == "verilator" and not code:
        try:
            compile_cpp(folder, env, log)
        except CompileError as error:
            with log.open("a") as stream:
                stream.write(f"{error}\n")
            code = 1
    said = log.read_text(errors="replace")
    for path in inputs.contents:
        said = said.replace(place(path), str(path)) if place(path).startswith("outside") else said
    log.write_text(said)
    # Icarus goes on after an error of its preprocessor, and calls it a success.
    refused = sim == "icarus" and ": error: " in said
    if code or refused or not all((folder / name).exists() for name in PRODUCTS[sim]):
        raise BuildError(f"{sim} does not build:\n{tail(said)}")
    check_reads(reads, snapshot, inputs.contents)


def check_reads(reads: Path, snapshot: Path, contents: Mapping[Path, bytes]) -> None:
    """Check that the compiler read nothing but what was hashed, by the list that it wrote.

    Raises:
        BuildError: it read another file, or one by its absolute path that was just changed.
    """
    listed = reads.read_text().partition(" : ")[2] or reads.read_text()
    for name in dict.fromkeys(listed.split()):
        path = Path(os.path.normpath(snapshot / name))
        # Verilator lists itself and its own package, too.
        if path.is_relative_to(snapshot) or path.name.startswith(("verilat", "iverilog")):
            continue
        if path not in contents:
            raise BuildError(
                f"the compiler read {path}, which no file of the design includes by its name: "
                "name it in an `include, or its folder in +incdir+"
            )
        if path.read_bytes() != contents[path]:
            raise BuildError(f"{path} was changed while it was compiled: run it again")


def request_of(made: Build) -> dict[str, Any]:
    """What a build was asked for: design, defines, options, bench, coverage, top."""
    request: dict[str, Any] = read_manifest(made.folder)["request"]
    return request


def tail(text: str, lines: int = 30) -> str:
    """The last lines of a log."""
    return "\n".join(text.splitlines()[-lines:])
