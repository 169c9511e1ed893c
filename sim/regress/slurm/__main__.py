"""``make test-slurm``: a suite on a private Slurm, with a worker killed in the middle.

Everything runs through ``make regress``'s own command line, unchanged but for CLUSTER=slurm. The
check then reads what the regression left: every job of the plan must have exactly one result.
"""

from __future__ import annotations

import collections
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from sim.regress.run_folder import PLAN, RESULTS, SUITES, SUMMARY
from sim.regress.slurm.private import PrivateSlurm, SlurmError
from sim.shared.cli import Parser, fail
from sim.shared.paths import BUILD, ROOT

FOLDER = BUILD / "slurm"
LIMIT_SECONDS = 2.0
WORKERS = 2
KILL_AFTER = 2  # results


class ProofError(AssertionError):
    """Something about the regression on Slurm is not as it must be."""


def worker_processes() -> dict[int, psutil.Process]:
    """Return the Dask workers that Slurm runs now, by their Slurm job."""
    found = {}
    for process in psutil.process_iter():
        try:
            environment = process.environ()
            if "distributed.cli.dask_worker" not in " ".join(process.cmdline()):
                continue
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
        if environment.get("SLURM_CONF") == str(FOLDER / "slurm.conf"):
            found[int(environment["SLURM_JOB_ID"])] = process
    return found


def busy_worker() -> psutil.Process | None:
    """Return a worker that has a job running right now."""
    for process in worker_processes().values():
        try:
            if any("sim.regress.job_process" in child.cmdline() for child in process.children()):
                return process
        except psutil.NoSuchProcess:
            continue
    return None


def kill_one(base: Path, regression: subprocess.Popen[bytes]) -> int:
    """Kill a busy worker by SIGKILL once the first results are in; return its process id.

    Raises:
        ProofError: the regression ended before there was one to kill.
    """
    while regression.poll() is None:
        results = next(iter(base.glob(f"*/{RESULTS}")), None)
        if results and results.read_bytes().count(b"\n") >= KILL_AFTER:
            victim = busy_worker()
            if victim:
                os.kill(victim.pid, signal.SIGKILL)
                return victim.pid
        time.sleep(0.05)
    raise ProofError("the regression ended before a busy worker could be killed")


def check(base: Path) -> str:
    """Check that every job has one result and return a line about it. Raises ProofError."""
    folder = next(iter(base.glob(f"*/{PLAN}"))).parent
    planned = [job["id"] for job in json.loads((folder / PLAN).read_text())["jobs"]]
    lines = (folder / RESULTS).read_text().splitlines()
    records = [json.loads(line) for line in lines]
    counts = collections.Counter(record["id"] for record in records)
    twice = [name for name, count in counts.items() if count > 1]
    missing = [name for name in planned if name not in counts]
    unknown = [name for name in counts if name not in planned]
    if twice or missing or unknown:
        raise ProofError(f"twice: {twice}, missing: {missing}, unknown: {unknown}")
    summary = json.loads((folder / SUMMARY).read_text())
    if summary["verdict"] != "passed":
        raise ProofError(f"the suite ended as {summary['verdict']}: see {folder}")
    again = [record for record in records if record["attempt"] > 1]
    if not again:
        raise ProofError("no job ran again, although its worker was killed")
    workers = {record["worker"] for record in records}
    if len(workers) < 3:
        raise ProofError(f"only {len(workers)} workers, no replacement for the killed one")
    return (
        f"{len(planned)} jobs, each accounted for exactly once; {len(again)} ran again after the "
        f"kill; {len(workers)} workers took part; {summary['seconds']:.1f} s"
    )


def at_work(folder: Path) -> list[int]:
    """Return the processes that are at work in the folders of jobs in ``folder``."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process.pid)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def prove_interruption(slurm: PrivateSlurm) -> str:
    """Interrupt a regression whose jobs never end; return a line about it. Raises ProofError."""
    base = FOLDER / "interrupted"
    file = FOLDER / "sleep.yaml"
    group = "{name: sleep, kind: command, params: {argv: [sleep, '600']}, seeds: 4}"
    file.write_text(f"suites: {{sleep: {{groups: [{group}]}}}}\n", encoding="utf-8")
    with regression(slurm, base, "sleep", file) as process:
        wait_until(lambda: len(at_work(base)) >= 2 * WORKERS, process, "jobs did not start")
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        while at_work(base):
            time.sleep(0.02)
        stopped = time.monotonic() - begin
        process.wait()
        ended = time.monotonic() - begin
    if stopped > LIMIT_SECONDS:
        raise ProofError(f"jobs ran on for {stopped:.1f} s after Ctrl-C")
    if process.returncode != 130 or not next(iter(base.glob(f"*/{SUMMARY}")), None):
        raise ProofError(f"exit status {process.returncode}, or no report after Ctrl-C")
    return f"Ctrl-C ended all jobs in {stopped:.2f} s, the regression in {ended:.2f} s"


def wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes], what: str) -> None:
    """Wait for ``ready`` while the regression runs. Raises ProofError with ``what``."""
    end = time.monotonic() + 60
    while not ready():
        if process.poll() is not None or time.monotonic() > end:
            raise ProofError(what)
        time.sleep(0.05)


@contextmanager
def regression(
    slurm: PrivateSlurm, base: Path, suite: str, file: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python -m sim.regress --cluster slurm``; whatever happens, it has ended afterwards."""
    options = {"--suite": suite, "--file": file, "--jobs": WORKERS, "--base": base}
    # In our group and on our terminal, as by make: it shows its progress, and hears of Ctrl-C.
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "sim.regress", "--cluster", "slurm"),
            *(str(word) for pair in options.items() for word in pair),
        ],
        cwd=ROOT,
        env={**os.environ, **slurm.environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> int:
    """Start Slurm, run the suite on it with a kill in the middle, check, and take all down."""
    parser = Parser(prog="test-slurm", description=__doc__)
    parser.add_argument("--suite", default="smoke")
    args = parser.parse_args()
    begin = time.monotonic()
    try:
        with PrivateSlurm(FOLDER, cpus=WORKERS) as slurm:
            print(f"private Slurm up after {time.monotonic() - begin:.1f} s", flush=True)
            base = FOLDER / "regress"
            with regression(slurm, base, args.suite, SUITES) as process:
                pid = kill_one(base, process)
                print(f"killed worker process {pid} in the middle of a job", flush=True)
                process.wait()
            print(f"PASS: {check(base)}", flush=True)
            print(f"PASS: {prove_interruption(slurm)}", flush=True)
        left = worker_processes()
        if left:
            raise ProofError(f"workers left behind: {sorted(left)}")
        print("Slurm is down, nothing is left")
    except (SlurmError, ProofError) as error:
        print(f"FAIL: {error}")
        return 1
    except KeyboardInterrupt:
        fail("test-slurm", "interrupted; Slurm is down")
    return 0


if __name__ == "__main__":
    sys.exit(main())
