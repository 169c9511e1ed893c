"""The design that RTL= names: what is read, hashed and said about it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sim.engine.design import Design, own_design
from sim.engine.sources import DesignError
from sim.shared.paths import BUILD, RTL


def make(folder: Path, listing: str = "top.sv\n", **files: str) -> Path:
    """A folder with a list and files; ``__`` in a name stands for its dot, ``_in_`` for a slash."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ga2.f").write_text(listing)
    for name, text in ({"top__sv": "module top; endmodule\n"} | files).items():
        path = folder / name.replace("_in_", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_the_own_design_is_what_its_list_names() -> None:
    design = own_design()
    assert design.is_own
    assert design.path == RTL
    assert {path.name for path in design.contents} == set((RTL / "ga2.f").read_text().split())
    assert design.output("results") == BUILD / "results"
    assert design.to_json()["path"] == "hw/rtl"


def test_the_hash_follows_everything_that_is_read(tmp_path: Path) -> None:
    def folder(**files: str) -> Path:
        shutil.rmtree(tmp_path / "rtl", ignore_errors=True)
        listing = "// a comment\n+incdir+inc\ntop.sv # another\n-I deep\n+define+WIDTH=8\n"
        texts = {
            "top__sv": '`include "one.svh"\nmodule top; endmodule\n',
            "inc_in_one__svh": '  `include "two.svh"\n',
            "deep_in_two__svh": "localparam int Two = 2;\n",
            "unread__svh": "1\n",
        }
        return make(tmp_path / "rtl", listing, **(texts | files))

    before = Design.load(folder())
    assert [path.name for path in before.contents] == ["top.sv", "one.svh", "two.svh"]
    assert before.sources.defines == ("WIDTH=8",)
    assert Design.load(folder(unread__svh="2\n")).hash == before.hash
    assert Design.load(folder(deep_in_two__svh="localparam int Two = 3;\n")).hash != before.hash
    (folder() / "ga2.f").write_text("+incdir+inc\ntop.sv\n-I deep\n+define+WIDTH=9\n")
    assert Design.load(tmp_path / "rtl").hash != before.hash


def test_a_file_that_is_loaded_by_a_name_is_read(tmp_path: Path) -> None:
    """Also when the name comes to the system task by a parameter or a macro."""
    table = tmp_path / "data" / "table.hex"
    table.parent.mkdir()
    table.write_text("1\n")
    text = f'module top #(parameter File = "{table}"); initial $readmemh(File, m); endmodule\n'
    before = Design.load(make(tmp_path / "rtl", top__sv=text))
    assert table in before.contents
    table.write_text("2\n")
    assert Design.load(tmp_path / "rtl").hash != before.hash


@pytest.mark.parametrize(
    ("listing", "text", "macro"),
    [
        ("+define+GA2_NETLIST\ntop.sv\n", "", "GA2_NETLIST"),
        ("-D GA2_ASSERT=0\ntop.sv\n", "", "GA2_ASSERT"),
        ("top.sv\n", "  `define GA2_NETLIST\n", "GA2_NETLIST"),
        ("top.sv\n", "`undef GA2_ASSERT // why\n", "GA2_ASSERT"),
        ("top.sv\n", "`undefineall\n", "GA2_ASSERT"),
    ],
)
def test_a_design_does_not_say_what_is_compared(
    tmp_path: Path, listing: str, text: str, macro: str
) -> None:
    with pytest.raises(DesignError, match=rf"(ga2\.f|top\.sv): changes {macro}, a macro of the"):
        Design.load(make(tmp_path, listing, top__sv=f"{text}module top; endmodule\n"))
    Design.load(make(tmp_path, top__sv="// `define GA2_NETLIST\nmodule top; endmodule\n"))


def test_the_hash_does_not_depend_on_the_place(tmp_path: Path) -> None:
    one, other = (Design.load(make(tmp_path / name)) for name in ("one", "other"))
    assert one.hash == other.hash
    assert not one.is_own
    assert one.output("results") != other.output("results")
    assert one.output("results").is_relative_to(BUILD / "designs")
    assert " " not in str(Design.load(make(tmp_path / "my own")).output("waves"))


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        ("gone.sv\n", "names gone.sv, which is no file"),
        ("top.sv\n-y lib\n", "line 2: '-y' is none of files, +incdir+"),
        ("top.sv\n-I\n", "line 2: '-I' is cut short"),
        ("// nothing\n", "names no file"),
        ('"top.sv\n', "is cut short"),
        ("-f ga2.f\n", "names ga2.f, which names it in turn"),
        ("-f other.f\n", "other.f: No such file"),
    ],
)
def test_a_list_that_cannot_be_read_is_named(tmp_path: Path, listing: str, message: str) -> None:
    with pytest.raises(DesignError, match=r"(ga2|other)\.f") as raised:
        Design.load(make(tmp_path, listing))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_design_is_named(tmp_path: Path) -> None:
    with pytest.raises(DesignError, match="gone: no such folder"):
        Design.load(tmp_path / "gone")
    with pytest.raises(DesignError, match=r"holds no ga2\.f"):
        Design.load(tmp_path)


def test_revision_and_changes_come_from_git(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def git(*words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    folder = make(tmp_path / "rtl")
    assert Design.load(folder).revision == ""
    git("init", "-q")
    assert Design.load(folder).revision == ""
    git("add", ".")
    git("commit", "-qm", "a design")
    (folder / "notes.txt").write_text("not read\n")
    clean = Design.load(folder)
    assert (clean.revision, clean.dirty) == (git("rev-parse", "HEAD"), False)
    (folder / "top.sv").write_text("module top; wire a; endmodule\n")
    assert Design.load(folder).dirty
    # What lies elsewhere in the repository counts, and what lies outside is of no commit.
    shared = tmp_path / "shared.sv"
    shared.write_text("module shared; endmodule\n")
    (folder / "ga2.f").write_text("top.sv\n../shared.sv\n")
    git("add", ".")
    git("commit", "-qm", "with another")
    assert not Design.load(folder).dirty
    shared.write_text("module shared; wire a; endmodule\n")
    assert Design.load(folder).dirty
    git("checkout", "-q", ".")
    assert not Design.load(folder).dirty
    outside = tmp_path_factory.mktemp("outside") / "top.sv"
    outside.write_bytes((folder / "top.sv").read_bytes())
    (folder / "top.sv").unlink()
    (folder / "top.sv").symlink_to(outside)
    git("add", ".")
    git("commit", "-qm", "a link")
    assert Design.load(folder).dirty
    # A copy in a folder that Git ignores is of no revision.
    (tmp_path / ".gitignore").write_text("build\n")
    assert Design.load(make(tmp_path / "build" / "rtl")).revision == ""
