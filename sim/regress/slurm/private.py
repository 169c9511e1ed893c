"""Start and stop a Slurm of our own: one node, its own munge key, ports and folder.

Nothing of the machine's own Slurm or munge is touched, and nothing is left behind: three daemons
run in the foreground as our children, and all files are in one folder.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from sim.shared.process import Child

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "squeue", "sinfo")
PLACES = ("/usr/sbin", "/usr/local/sbin")
SOCKET_LIMIT = 100  # a path of a Unix socket is limited to 107 bytes

CONFIG = """\
ClusterName=ga2
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={socket}
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1
ReturnToService=2
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=ga2 Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class SlurmError(RuntimeError):
    """The private Slurm cannot run here; the message says what is missing or went wrong."""


def search_path() -> str:
    """Return PATH with the places of daemons, which ordinary users often lack."""
    return os.pathsep.join([os.environ.get("PATH", ""), *PLACES])


def missing_programs() -> list[str]:
    """Return the programs of Slurm and munge that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=search_path())]


def install() -> None:
    """Install Slurm and munge when they are missing and we may. Raises SlurmError."""
    absent = missing_programs()
    if not absent:
        return
    if os.getuid() != 0 or not shutil.which("apt-get"):
        raise SlurmError(
            f"not installed: {', '.join(absent)}; as root: apt-get install slurm-wlm munge"
        )
    for command in (["update", "-qq"], ["install", "-qq", "-y", "slurm-wlm", "munge"]):
        # No child that ends with us: a package that is half installed stands in apt's way.
        done = subprocess.run(
            ["apt-get", *command],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise SlurmError(f"apt-get {' '.join(command)} failed:\n{done.stderr}")


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on now."""
    held = [socket.socket() for _ in range(count)]
    try:
        for item in held:
            item.bind(("127.0.0.1", 0))
        return [item.getsockname()[1] for item in held]
    finally:
        for item in held:
            item.close()


class PrivateSlurm:
    """A context that holds a running Slurm with ``cpus`` slots.

    Attributes:
        folder: everything of it, emptied first.
        environment: variables for clients: SLURM_CONF and PATH.
    """

    def __init__(self, folder: Path, cpus: int = 2, memory_mib: int = 4096) -> None:
        self.folder = folder.resolve()
        self.cpus = cpus
        self.memory = memory_mib
        self.environment = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "PATH": search_path(),
        }
        self._daemons: list[Child] = []
        self._socket_folder: str | None = None

    def __enter__(self) -> PrivateSlurm:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the daemons and wait until the node is idle. Raises SlurmError."""
        install()
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self._write_config()
        self._start("munged", *self._munge_options())
        self._wait(lambda: self.socket.exists(), "munged", 10)
        self._start("slurmctld", "-D", "-i")
        self._start("slurmd", "-D")
        self._wait(self._idle, "slurmctld and slurmd", 30)

    @property
    def socket(self) -> Path:
        """Munge's socket: in our folder, or in a short one when the path would be too long."""
        path = self.folder / "munge.socket"
        if len(str(path)) <= SOCKET_LIMIT:
            return path
        if self._socket_folder is None:
            self._socket_folder = tempfile.mkdtemp(prefix="munge-")
        return Path(self._socket_folder) / "munge.socket"

    def _munge_options(self) -> list[str]:
        files = {"log": "munged.log", "pid": "munged.pid", "seed": "munged.seed"}
        return [
            "--foreground",
            # Our folder may lie below one that a group can write to; the key is ours alone.
            "--force",
            f"--key-file={self.folder / 'munge.key'}",
            f"--socket={self.socket}",
            *(f"--{kind}-file={self.folder / name}" for kind, name in files.items()),
        ]

    def _write_config(self) -> None:
        text = CONFIG.format(
            host=socket.gethostname().split(".")[0],
            ports=free_ports(2),
            user=pwd.getpwuid(os.getuid()).pw_name,
            socket=self.socket,
            folder=self.folder,
            cpus=self.cpus,
            memory=self.memory,
        )
        (self.folder / "slurm.conf").write_text(text, encoding="utf-8")

    def _start(self, name: str, *options: str) -> None:
        program = shutil.which(name, path=search_path())
        env = {**os.environ, **self.environment}
        log = self.folder / f"{name}.out"
        self._daemons.append(Child([str(program), *options], cwd=self.folder, env=env, log=log))

    def _wait(self, ready: object, what: str, seconds: float) -> None:
        assert callable(ready)
        end = time.monotonic() + seconds
        while not ready():
            dead = [item for item in self._daemons if not item.running()]
            if dead or time.monotonic() > end:
                raise SlurmError(f"{what} did not come up:\n{self.logs()}")
            time.sleep(0.1)

    def _idle(self) -> bool:
        return "idle" in self.run(["sinfo", "-h", "-o", "%T"])

    def run(self, argv: Sequence[str]) -> str:
        """Run a client program against this Slurm and return what it printed."""
        # It ends by itself, and is not waited for beyond its time.
        done = subprocess.run(
            argv,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
        )
        return done.stdout

    def jobs(self) -> list[int]:
        """Return the ids of the Slurm jobs that run now."""
        return [int(line) for line in self.run(["squeue", "-h", "-t", "R", "-o", "%A"]).split()]

    def _cancel_all(self, seconds: float = 15.0) -> None:
        """Cancel every job and wait until Slurm has killed what would not end by itself."""
        self.run(["scancel", f"--user={os.getuid()}"])
        end = time.monotonic() + seconds
        while self.run(["squeue", "-h"]).strip() and time.monotonic() < end:
            time.sleep(0.2)

    def logs(self, lines: int = 8) -> str:
        """Return the ends of all logs, for a message."""
        parts = []
        for path in sorted([*self.folder.glob("*.out"), *self.folder.glob("*.log")]):
            text = path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
            parts += [f"--- {path.name}", *text]
        return "\n".join(parts)

    def stop(self) -> None:
        """Cancel every job, end the daemons, and leave nothing running."""
        if len(self._daemons) == 3:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._cancel_all()
        for daemon in reversed(self._daemons):
            if daemon.running():
                os.kill(daemon.pid, signal.SIGTERM)
        for daemon in reversed(self._daemons):
            daemon.running(5)
            daemon.end()
        self._daemons.clear()
        if self._socket_folder:
            shutil.rmtree(self._socket_folder, ignore_errors=True)
            self._socket_folder = None
