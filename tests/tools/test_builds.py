"""Compiled simulators: everything that was read is in the name, nothing else gets in."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import sim.engine.verilated
from sim.engine.build_cache import MANIFEST, cached
from sim.engine.builds import SNAPSHOT, Build, build, check_reads, request_of
from sim.engine.compilers import BuildError, tool_environment
from sim.engine.design import Design
from sim.engine.simulator import simulate
from sim.engine.verilated import CompileError, compile_cpp
from sim.shared.paths import SIMULATORS
from verif.items.job import Job
from verif.stimulus.directed import REGISTRY

# What cocotb, its makefiles, make or a simulator would take for a setting of theirs.
HOSTILE = {
    "MODULE": "nothing",
    "TOPLEVEL": "nothing",
    "TESTCASE": "nothing",
    "COCOTB_TEST_MODULES": "nothing",
    "COCOTB_TESTCASE": "nothing",
    "COCOTB_TEST_FILTER": "nothing",
    "COCOTB_TOPLEVEL": "nothing",
    "COCOTB_PLUSARGS": "+ga2_lat=0",
    "PLUSARGS": "+nothing",
    "SIM_ARGS": "-nothing",
    "SIM_CMD_PREFIX": "false",
    "COMPILE_ARGS": "-DLEAK",
    "EXTRA_ARGS": "-DLEAK",
    "GA2_COMPILE": "-DLEAK",
    "VERILOG_SOURCES": "nothing.sv",
    "VERILOG_INCLUDE_DIRS": "/nothing",
    "CUSTOM_COMPILE_DEPS": "nothing",
    "WAVES": "1",
    "GPI_EXTRA": "nothing",
    "GPI_USERS": "nothing",
    "PYTHONOPTIMIZE": "1",
    "IVERILOG_DUMPER": "nothing",
    "MAKEFLAGS": " -n -- WAVES=1 EXTRA_ARGS=-DLEAK",
    "MFLAGS": "-n",
    "MAKEOVERRIDES": "WAVES=1",
    "MAKEFILES": "nothing",
    "GNUMAKEFLAGS": "-n",
}
TOP = """`include "value.svh"
module tiny;
`ifdef LEAK
  initial leaked;
`endif
  initial #1 $display("value %0d", `VALUE);
endmodule
"""


def tiny(folder: Path, value: int = 1) -> Path:
    """A design of one module that includes a file of another folder."""
    (folder / "inc").mkdir(parents=True, exist_ok=True)
    (folder / "ga2.f").write_text("+incdir+inc\ntiny.sv\n")
    (folder / "tiny.sv").write_text(TOP)
    (folder / "inc" / "value.svh").write_text(f"`define VALUE {value}\n")
    return folder


MAKE = """\
CXX = c++
VK_GLOBAL_OBJS = runtime.o
VK_USER_OBJS = Vtop__main.o
$(VK_GLOBAL_OBJS): {source}
	$(CXX) $(OPT_GLOBAL) {flags} -c -o $@ $<
$(VK_USER_OBJS): Vtop__main.cpp
	$(CXX) $(OPT_FAST) {flags} -I. -c -o $@ $<
Vtop__ALL.o: Vtop__ALL.cpp
	$(CXX) -c -o $@ $<
Vtop: $(VK_USER_OBJS) $(VK_GLOBAL_OBJS) Vtop__ALL.o
	$(CXX) $^ -o $@
"""


def compile_tiny(design: Path | Design, sim: str = "icarus") -> Build:
    return build(sim, rtl=design, bench=(), top="tiny")


class Verilated:
    """A folder as Verilator leaves it, with a runtime of one line: what it compiles, and what runs.

    Its program ends with ``runtime * class + design``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.number = 0

    def compile(
        self, runtime: int = 1, flags: str = "", header: int = 3, design: int = 0, path: str = ""
    ) -> tuple[int, str]:
        """Return the exit code of the program, and what was compiled for it."""
        self.number += 1
        made = self.folder / f"made{self.number}"
        made.mkdir()
        source = self.folder / "runtime.cpp"
        source.write_text(f"int runtime() {{ return {runtime} + FLAG - 1; }}\n")
        (made / "Vtop.h").write_text(f"#define CLASS {header}\nint runtime(); int design();\n")
        main = '#include "Vtop.h"\nint main() { return runtime() * CLASS + design(); }\n'
        (made / "Vtop__main.cpp").write_text(main)
        (made / "Vtop__ALL.cpp").write_text(f"int design() {{ return {design}; }}\n")
        (made / "Vtop.mk").write_text(MAKE.format(source=source, flags=flags or "-DFLAG=1"))
        (made / "Vtop_classes.mk").touch()
        self.log.write_text("")
        env = tool_environment()
        compile_cpp(made, {**env, "PATH": path + env["PATH"]}, self.log)
        compiled = " ".join(re.findall(r"-o (\w+)\.o", self.log.read_text()))
        return subprocess.run([made / "Vtop"]).returncode, compiled

    def kept(self) -> set[Path]:
        """Folders of objects."""
        return set((self.folder / "build").glob("runtime-*"))


@pytest.fixture
def verilated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Verilated:
    monkeypatch.setattr(sim.engine.verilated, "BUILD", tmp_path / "build")
    return Verilated(tmp_path)


def test_an_included_file_is_in_the_name(tmp_path: Path) -> None:
    first = compile_tiny(tiny(tmp_path, 1))
    assert '"value %0d"' in first.binary.read_text()
    other = compile_tiny(tiny(tmp_path, 2))
    assert other.folder != first.folder
    assert compile_tiny(tiny(tmp_path, 1)).folder == first.folder
    assert request_of(first)["design"]["hash"] == Design.load(tmp_path).hash


def test_an_edit_while_it_compiles_gets_into_no_build(tmp_path: Path) -> None:
    design = Design.load(tiny(tmp_path, 1))
    tiny(tmp_path, 2)  # edited after it was hashed, before the compiler reads it
    made = compile_tiny(design)
    compiled = [path.read_text() for path in (made.folder / SNAPSHOT).rglob("value.svh")]
    assert compiled == ["`define VALUE 1\n"]
    later = compile_tiny(tmp_path)
    compiled = [path.read_text() for path in (later.folder / SNAPSHOT).rglob("value.svh")]
    assert compiled == ["`define VALUE 2\n"]


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_module_of_the_design_takes_no_place_of_the_testbench(
    tmp_path: Path, simulator: str
) -> None:
    bench = tmp_path / "watchdog.sv"
    bench.write_text(
        "module watchdog; endmodule\nmodule bench; tiny t(); watchdog w(); endmodule\n"
    )
    rtl = tiny(tmp_path / "rtl")
    (rtl / "tiny.sv").write_text("module watchdog; endmodule\nmodule tiny; endmodule\n")
    with pytest.raises(BuildError, match=r"(?i)watchdog"):
        build(simulator, rtl=rtl, bench=[bench], top="bench")


def test_what_was_read_unseen_is_refused(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.svh"
    hidden.write_text("`define VALUE 3\n")
    rtl = tiny(tmp_path / "rtl")
    text = TOP.replace('`include "value.svh"', f'`define NAME(x) `"x`"\n`include `NAME({hidden})')
    (rtl / "tiny.sv").write_text(text)
    with pytest.raises(BuildError, match=r"the compiler read .*hidden\.svh, which no file"):
        compile_tiny(rtl, "verilator")


def test_an_error_that_icarus_passes_over_is_one(tmp_path: Path) -> None:
    rtl = tiny(tmp_path)
    (rtl / "tiny.sv").write_text("`include VALUE\nmodule tiny;\nendmodule\n")
    with pytest.raises(BuildError, match="malformed `include"):
        compile_tiny(rtl)


def test_a_file_read_by_its_absolute_path_may_not_change_meanwhile(tmp_path: Path) -> None:
    read = tmp_path / "value.svh"
    read.write_text("after\n")
    listed = tmp_path / "reads"
    listed.write_text(f"Vtop.cpp Vtop.mk : /opt/verilator_bin top.sv {read}\n")
    check_reads(listed, tmp_path / "src", {read: b"after\n"})
    with pytest.raises(BuildError, match=r"value\.svh was changed while it was compiled"):
        check_reads(listed, tmp_path / "src", {read: b"before\n"})


@pytest.mark.parametrize("damage", ["cut", "missing", "other"])
def test_a_damaged_build_is_made_again(tmp_path: Path, damage: str) -> None:
    made = compile_tiny(tiny(tmp_path, 4))
    whole = made.binary.read_bytes()
    if damage == "missing":
        made.binary.unlink()
    else:
        made.binary.write_bytes(whole[:100] if damage == "cut" else whole[:-1] + b"#")
    # Scopes are named after addresses in the compiler: no two compilations are the same bytes.
    again = compile_tiny(tmp_path).binary.read_bytes()
    assert len(again) == len(whole)
    assert again.endswith(whole[-20:])


def test_a_damaged_manifest_has_the_build_made_again(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> None:
        made.append(folder)
        (folder / "product").write_text("x")

    for manifest in (None, "", "[]", "{}", '{"products": {"product": [1, "no hash"]}}'):
        if manifest is not None:
            (tmp_path / "one" / MANIFEST).write_text(manifest)
        cached(tmp_path / "one", ["product"], make)
    assert len(made) == 5
    cached(tmp_path / "one", ["product"], make)
    assert len(made) == 5
    shutil.copytree(tmp_path / "one", tmp_path / "other")
    cached(tmp_path / "other", ["product"], make)
    assert len(made) == 6
    shutil.rmtree(tmp_path / "other")
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["one"]


def test_builds_see_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    assert not HOSTILE.keys() & tool_environment().keys()
    made = compile_tiny(tiny(tmp_path, 5))
    assert "leaked" not in made.binary.read_text()


def test_simulations_see_nothing_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in HOSTILE.items():
        monkeypatch.setenv(name, value)
    assert simulate("icarus", Job(items=REGISTRY["amax_ties"].items()[:1])).passed


def test_a_design_in_a_folder_with_blanks_compiles(tmp_path: Path) -> None:
    compile_tiny(tiny(tmp_path / "my $own design"))


def test_a_message_names_the_file_as_it_lies(tmp_path: Path) -> None:
    rtl = tiny(tmp_path / "with blank")
    (rtl / "tiny.sv").write_text("module tiny; assign = 1; endmodule\n")
    with pytest.raises(BuildError) as raised:
        compile_tiny(rtl)
    assert f"{rtl}/tiny.sv:1" in str(raised.value)


ALL = {"runtime", "Vtop__main", "Vtop__ALL"}


def test_an_edit_of_the_design_compiles_the_design_alone(verilated: Verilated) -> None:
    code, compiled = verilated.compile(design=0)
    assert (code, set(compiled.split())) == (3, ALL)
    assert verilated.compile(design=4) == (7, "Vtop__ALL")


def test_whatever_changes_the_shared_objects_makes_new_ones(verilated: Verilated) -> None:
    verilated.compile()
    for count, (change, code) in enumerate(
        [({"flags": "-DFLAG=2"}, 6), ({"runtime": 3}, 9), ({"header": 5}, 5)], 2
    ):
        assert verilated.compile(**change)[0] == code  # type: ignore[arg-type]
        assert len(verilated.kept()) == count
    assert verilated.compile() == (3, "Vtop__ALL")


def test_another_compiler_makes_other_objects(verilated: Verilated, tmp_path: Path) -> None:
    verilated.compile()
    compiler = tmp_path / "bin" / "c++"
    compiler.parent.mkdir()
    for kept, version in ((2, "13"), (3, "14")):
        compiler.write_text(
            f'#!/bin/sh\n[ "$1" != -v ] || exec echo version {version}\n'
            'PATH=${PATH#*:}\nexec c++ "$@"\n'
        )
        compiler.chmod(0o755)
        sim.engine.verilated._toolchain.cache_clear()
        code, compiled = verilated.compile(path=f"{compiler.parent}:")
        assert (code, set(compiled.split()), len(verilated.kept())) == (3, ALL, kept)


def test_what_the_compiler_takes_for_the_same_is_compiled_once(verilated: Verilated) -> None:
    """As Verilator's runtime for builds with and without waves."""
    verilated.compile()
    assert verilated.compile(flags="-DFLAG=1 -DVM_TRACE=1 -I..") == (3, "Vtop__ALL")
    assert len(verilated.kept()) == 2
    code, compiled = verilated.compile(flags="-DFLAG=1 -O0")
    assert (code, set(compiled.split())) == (3, ALL)


@pytest.mark.parametrize("damage", ["cut", "missing", "other"])
def test_a_damaged_object_is_made_again(verilated: Verilated, damage: str) -> None:
    verilated.compile()
    (kept,) = verilated.kept()
    (single,) = (verilated.folder / "build").glob("object-*/runtime.o")
    whole = single.read_bytes()
    # The copy among the others, then the object itself, when there is no copy either.
    for design, compiled in enumerate(("Vtop__ALL", "runtime Vtop__ALL")):
        for target in (kept / "runtime.o", single)[: design + 1]:
            if damage == "missing":
                target.unlink()
            else:
                target.write_bytes(whole[:100] if damage == "cut" else whole[:-1] + b"#")
        assert verilated.compile(design=design) == (3 + design, compiled)
        assert single.read_bytes() == (kept / "runtime.o").read_bytes() == whole


def test_objects_that_do_not_compile_are_not_kept(verilated: Verilated) -> None:
    with pytest.raises(CompileError, match="failed"):
        verilated.compile(flags="-DFLAG=nothing")
    assert not verilated.kept()
    assert verilated.compile()[0] == 3


def test_verilator_builds_share_the_runtime(tmp_path: Path) -> None:
    compile_tiny(tiny(tmp_path, 6), "verilator")
    second = compile_tiny(tiny(tmp_path, 7), "verilator")
    compiled = re.findall(r" -c .*?(\w+)\.cpp", (second.folder / "build.log").read_text())
    assert compiled == ["Vtop__ALL"]
