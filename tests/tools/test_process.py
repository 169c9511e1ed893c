"""Child processes: nothing of them is left, whoever dies first."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sim.engine.compilers import tool_environment
from sim.shared import process
from sim.shared.paths import ROOT
from sim.shared.process import Child, StoppedError, run_captured, run_child

# Leaves the group of its parent, as daemons do, and then lasts.
STRAY = "setsid sh -c 'echo $$; exec sleep 500' & read -r _ < pipe"
STARTER = """
import sys
from pathlib import Path
from sim.shared.process import Child
place = Path(sys.argv[1])
Child(["sh", "-c", sys.argv[2]], cwd=place, env={"PATH": "/usr/bin:/bin"}, log=place / "log")
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder with a pipe that nobody writes to."""
    os.mkfifo(tmp_path / "pipe")
    yield tmp_path
    for one in strays(tmp_path):
        one.kill()


def strays(place: Path) -> list[psutil.Process]:
    """The sleepers that were started in a folder."""
    log = place / "log"
    pids = log.read_text().split() if log.exists() else []
    found = []
    for pid in map(int, pids):
        if psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            found.append(psutil.Process(pid))
    return found


def wait_until(ready: Callable[[], object]) -> None:
    for _ in range(1000):
        if ready():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come to pass")


def test_what_left_the_group_ends_with_a_killed_starter(place: Path) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(place), STRAY], cwd=ROOT, stdin=subprocess.PIPE
    )
    wait_until(lambda: strays(place))
    (stray,) = strays(place)
    assert os.getpgid(stray.pid) != os.getpgid(starter.pid)
    starter.kill()
    starter.communicate()
    wait_until(lambda: not strays(place))


def test_a_starter_that_ends_by_itself_leaves_nothing_to_warn_of(place: Path) -> None:
    started = STARTER.replace("Child([", "with Child([").replace('"log")', '"log"): pass')
    ended = subprocess.run(
        [sys.executable, "-X", "dev", "-c", started, str(place), "true"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_the_guard_knows_a_child_before_it_runs(place: Path) -> None:
    """A starter that dies inside the start, before it could tell anybody of a process, is found."""
    dying = STARTER.replace(
        "Child([",
        "import os, subprocess\n"
        "start = subprocess.Popen\n"
        "def die(argv, **how):\n"
        "    one = start(argv, **how)\n"
        "    if argv[-1] == sys.argv[2]:\n"
        "        while not (place / 'log').read_text():\n"
        "            pass\n"
        "        os.kill(os.getpid(), 9)\n"
        "    return one\n"
        "subprocess.Popen = die\n"
        "Child([",
    )
    ended = subprocess.run([sys.executable, "-c", dying, str(place), STRAY], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert (place / "log").read_text()
    wait_until(lambda: not strays(place))


@pytest.mark.parametrize("ended", [False, True])
def test_what_left_the_group_ends_with_its_child(place: Path, ended: bool) -> None:
    """Also when the child itself was killed, and so is nobody's parent any more."""
    with Child(["sh", "-c", STRAY], cwd=place, env=os.environ, log=place / "log") as child:
        wait_until(lambda: strays(place))
        if ended:
            os.killpg(child.pid, signal.SIGKILL)
            assert not child.running(5)
        else:
            assert child.running()
    assert child.code == -signal.SIGKILL
    wait_until(lambda: not strays(place))


def test_what_is_stopped_neither_passed_nor_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_stopping", threading.Event())
    timer = threading.Timer(0.1, process.stop)
    timer.start()
    settings = {"cwd": tmp_path, "log": tmp_path / "log", "env": os.environ}
    with pytest.raises(StoppedError):
        run_child(["sleep", "500"], timeout=60.0, **settings)  # type: ignore[arg-type]
    with pytest.raises(StoppedError):
        run_child(["touch", "begun"], timeout=60.0, **settings)  # type: ignore[arg-type]
    assert not (tmp_path / "begun").exists()


def test_a_time_limit_ends_it(tmp_path: Path) -> None:
    ended = run_child(
        ["sleep", "500"], cwd=tmp_path, log=tmp_path / "log", timeout=0.1, env=os.environ
    )
    assert (ended.timed_out, ended.code) == (True, -signal.SIGKILL)


def test_all_that_is_said_comes_back() -> None:
    script = r"cat; printf 'a\377b' >&2; exit 3"
    done = run_captured(["sh", "-c", script], cwd=ROOT, env=tool_environment(), text="in\n")
    assert (done.returncode, done.stdout) == (3, "in\na\\xffb")
    with pytest.raises(FileNotFoundError):
        run_captured(["no-such-program"], cwd=ROOT, env={})
