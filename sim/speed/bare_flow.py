"""The bare driver of ``make bench``: what Verilator could do if nothing but GA-2 had to be run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sim.engine.build_cache import cached
from sim.engine.builds import place, write_snapshot
from sim.engine.compilers import compilers, tool_environment
from sim.engine.design import Design, design_of
from sim.engine.verilated import OPTIONS, PREFIX, CompileError, compile_cpp
from sim.shared.errors import ToolError
from sim.shared.files import digest, read_text
from sim.shared.paths import BUILD, ROOT, RTL
from sim.shared.process import run_captured, run_to_end

DRIVER = ROOT / "sim" / "speed" / "bare" / "bare.cpp"
VERILATOR_OPTIONS = ["--cc", "--exe", "-O3", "--no-assert", "-CFLAGS", "-std=c++20"]
LTO = [option.replace("-O2", "-O3 -flto=auto") for option in OPTIONS]

_END = re.compile(r"^END programs (\d+) cycles (\d+) wrong (\d+) cpu_seconds (\S+)$", re.MULTILINE)


class BareFlowError(ToolError):
    """The bare driver did not build, or a program did not end as the model says."""


@dataclass(frozen=True)
class BareRun:
    """What a run reported.

    Attributes:
        cycles: of all programs, as the design counted them.
        cpu_seconds: processor time of loading memories and of simulating, nothing else.
    """

    cycles: int
    cpu_seconds: float


def build(rtl: Path | Design = RTL) -> Path:
    """Compile driver and design, unless the build is cached; return the program.

    Raises:
        BareFlowError: the compiler's output, when it fails.
        DesignError: there is no such design.
    """
    design = design_of(rtl)
    options = [*VERILATOR_OPTIONS, *(f"-D{define}" for define in design.sources.defines)]
    options += [f"-I{place(path)}" for path in design.sources.search]
    sources = [*map(place, design.sources.files), str(DRIVER)]
    contents = design.contents
    read = [part for path in sorted(contents) for part in (place(path), contents[path])]
    name = digest(*compilers("verilator"), *LTO, *options, *sources, DRIVER.read_bytes(), *read)
    folder = BUILD / f"bare-{name}"

    def compile_into(target: Path) -> None:
        write_snapshot(design.contents, target / "src")
        where = ["-Mdir", str(target), "--prefix", PREFIX, "-o", PREFIX, "--top-module", "ga2"]
        command = ["verilator", *options, *where, *sources]
        log, env = target / "build.log", tool_environment()
        failed = run_to_end(command, cwd=target / "src", env=env, log=log)
        try:
            if not failed:
                compile_cpp(target, env, log, LTO)
        except CompileError as error:
            failed, command = 1, [str(error)]
        if failed:
            raise BareFlowError(f"{' '.join(command)}\n{read_text(log)}")

    cached(folder, [PREFIX], compile_into)
    return folder / PREFIX


def run(program: Path, replay: Path, programs: int) -> BareRun:
    """Replay what ``plain_flow.export`` wrote.

    Args:
        program: from ``build``.
        replay: its binary file.
        programs: how many to play of it.

    Raises:
        BareFlowError: a program did not end, or not as the model says; or none was played.
    """
    command = [str(program), str(replay), str(programs)]
    done = run_captured(command, cwd=ROOT, env=tool_environment())
    said = _END.search(done.stdout)
    if done.returncode or not said or int(said[1]) != programs:
        raise BareFlowError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}")
    return BareRun(int(said[2]), float(said[4]))
