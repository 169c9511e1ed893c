"""The compilers of simulators: what they say of themselves, what they see of the environment."""

from __future__ import annotations

import os
import struct
import sys
from functools import lru_cache
from pathlib import Path

import find_libpython
from cocotb_tools import config as cocotb_config

from sim.engine.verilated import OPTIONS, CompileError, toolchain
from sim.shared.errors import ToolError
from sim.shared.paths import ROOT
from sim.shared.process import run_captured

ANSWERS = Path(__file__).resolve().parent / "bin" / "cocotb-config"
COMPILERS = {"icarus": "iverilog", "verilator": "verilator"}

# What a child may see of the environment. Anything else might be a setting of cocotb, of its
# makefiles (MODULE, WAVES, EXTRA_ARGS, ...), of make or of a simulator.
PASSED = (
    "HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR PATH CPATH LIBRARY_PATH LD_LIBRARY_PATH "
    "DYLD_LIBRARY_PATH PYTHONPATH VIRTUAL_ENV XDG_CACHE_HOME OBJCACHE "
    "GA2_REGRESS_BUILDS GA2_CHILD"
)
PASSED_GROUPS = ("LC_", "CCACHE_", "YOWASP_")


class BuildError(ToolError):
    """The simulator could not be built; the message ends with the compiler's own words."""


def tool_environment() -> dict[str, str]:
    """Environment for a child: little of ours, with the project's Python and Verilator first."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name in PASSED.split() or name.startswith(PASSED_GROUPS)
    }
    python = Path(sys.executable).parent
    env["PATH"] = os.pathsep.join([str(python), str(ROOT / "sim" / "setup"), env.get("PATH", "")])
    if sys.prefix != sys.base_prefix:
        env["VIRTUAL_ENV"] = sys.prefix
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    return env


def makefile_environment() -> dict[str, str]:
    """Environment for cocotb's makefiles, with the answers for which they would start Python."""
    env = tool_environment()
    env["PATH"] = os.pathsep.join([str(ANSWERS.parent), env["PATH"]])
    return env | _answers()


@lru_cache
def _answers() -> dict[str, str]:
    """What ``ANSWERS`` says, and what makes cocotb's makefiles not ask."""
    extension = next(cocotb_config.base_cocotb_dir.glob("simulator*.so"))
    return {
        "GPI_USERS": f"{find_libpython.find_libpython()};{extension},initialize",
        "cocotb_makefiles": str(cocotb_config.makefiles_dir),
        "cocotb_libs": str(cocotb_config.libs_dir),
        "GA2_COCOTB_SHARE": str(cocotb_config.share_dir),
        "GA2_COCOTB_ICARUS": cocotb_config.lib_entry("vpi", "icarus"),
        "GA2_PYTHON": sys.executable,
        "GA2_PYTHON_BITS": f"{struct.calcsize('P') * 8}bit",
    }


@lru_cache
def compiler_version(sim: str) -> str:
    """What the compiler says about itself; part of the hash."""
    flag = {"icarus": "-V", "verilator": "--version"}[sim]
    try:
        done = run_captured([COMPILERS[sim], flag], cwd=ROOT, env=tool_environment())
    except FileNotFoundError:
        raise BuildError(f"{COMPILERS[sim]} is not installed: run 'make setup'") from None
    return done.stdout.partition("\n")[0]


def compilers(sim: str) -> list[str]:
    """All that says which compilers make a build, and how; part of the hash.

    Raises:
        BuildError: one of them is missing.
    """
    named = [compiler_version(sim)]
    if sim == "verilator":
        try:
            named += [toolchain(tool_environment()), *OPTIONS]
        except CompileError as error:
            raise BuildError(f"{error}: run 'make setup'") from None
    return named


@lru_cache
def wave_suffix() -> str:
    """``fst`` when Verilator's FST writer compiles (liblz4-dev, zlib1g-dev), else ``vcd``."""
    program = "#include <lz4.h>\n#include <zlib.h>\n"
    command = ["c++", "-E", "-x", "c++", "-", "-o", os.devnull]
    done = run_captured(command, cwd=ROOT, env=tool_environment(), text=program)
    return "fst" if done.returncode == 0 else "vcd"
