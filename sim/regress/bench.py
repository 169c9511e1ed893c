"""``make bench-regress``: what the engine itself costs, measured beside what it is compared with.

    noop       10,000 jobs that do nothing: the cost of a job in scheduler and engine
    overhead   a suite by the engine, and the same jobs by a bare shell loop (xargs -P)
    scaling    some of a suite's Verilator jobs one at a time, and two at a time
    stop       Ctrl-C amid a suite, until its last process is gone and its reports are written

Every figure comes from one run on this machine. On a busy one only CPU times mean anything.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sim.engine.design import own_design
from sim.regress import builds, clusters, dispatch, run_folder, suites
from sim.regress.progress import Progress
from sim.regress.records import JobRecord, JobSpec
from sim.regress.stop import Stop
from sim.regress.worker import command, environment
from sim.report.write import make_report
from sim.shared import files, jsonl
from sim.shared.cli import Parser, fail
from sim.shared.paths import RESULTS, ROOT
from verif.typed import plain

RESULT = RESULTS / "bench-regress.json"
PARTS = ("noop", "overhead", "scaling", "stop")
NOOP_JOBS = 10_000
SCALING_JOBS = 16
SLOTS = os.cpu_count() or 1


def timed(action: Callable[[], Any]) -> float:
    """Return the seconds that ``action`` takes."""
    begin = time.monotonic()
    action()
    return time.monotonic() - begin


def run_noop(folder: Path) -> dict[str, float]:
    """Run jobs that do nothing through cluster, engine and result log. Times in seconds."""
    # Jobs that end at once, without a process.
    jobs = suites.expand_group(suites.Group(name="noop", kind="noop", seeds=NOOP_JOBS), 1)
    progress = Progress({job.id: job for job in jobs}, SLOTS)
    held: list[clusters.Cluster] = []
    start = timed(lambda: held.append(clusters.start("local", SLOTS, folder)))
    with jsonl.Writer(folder / run_folder.RESULTS) as log:

        def take(record: JobRecord) -> None:
            log.add(plain(record))
            progress.add(record)

        computed = time.process_time()
        seconds = timed(
            lambda: dispatch.run_jobs(
                held[0],
                jobs,
                folder,
                design="",
                stop=Stop(),
                on_record=take,
                on_tick=lambda running, workers: None,
            )
        )
        computed = time.process_time() - computed
    held[0].close()
    if progress.done != NOOP_JOBS:
        raise RuntimeError(f"{progress.done} of {NOOP_JOBS} jobs came back")
    return {
        "jobs": NOOP_JOBS,
        "start_seconds": round(start, 3),
        "seconds": round(seconds, 3),
        "ms_per_job": round(1e3 * seconds / NOOP_JOBS, 4),
        # Does not depend on what else the machine does.
        "cpu_ms_per_job": round(1e3 * computed / NOOP_JOBS, 4),
    }


def start_engine(suite: str, base: Path) -> subprocess.Popen[bytes]:
    """Start a suite as ``make regress`` does, in a fresh folder."""
    options = ["--suite", suite, "--jobs", str(SLOTS), "--base", str(base)]
    words = [sys.executable, "-m", "sim.regress", *options]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    # In our group, as by make: it hears of Ctrl-C, too.
    return subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)


def by_engine(suite: str, base: Path) -> float:
    """Run a suite as ``make regress`` does; return its seconds, all included."""

    def run() -> None:
        if code := start_engine(suite, base).wait():
            raise RuntimeError(f"the regression ended with {code}: see {base}")

    return timed(run)


def by_shell(jobs: Sequence[JobSpec], base: Path) -> float:
    """Run jobs by ``xargs -P``, each with the command that the engine uses; return the seconds."""
    lines = []
    for job in jobs:
        folder = base / "jobs" / job.id
        folder.mkdir(parents=True)
        files.write_json(folder / run_folder.SPEC, plain(job))
        lines.append(" ".join(command(folder)) + f" > {folder}/job.log 2>&1")
    text = "\n".join(lines) + "\n"
    shell = ["xargs", "-P", str(SLOTS), "-d", "\\n", "-n", "1", "sh", "-c", "eval $0"]
    env = environment(base)
    # A loop of a shell's own, which is what is measured, is started without a guard.
    return timed(lambda: subprocess.run(shell, input=text, text=True, env=env, check=True))


def run_overhead(suite: str, base: Path) -> dict[str, Any]:
    """Compare engine and shell loop on a suite."""
    jobs = suites.expand(suites.load(run_folder.SUITES), suite, 1)
    shell = base / "shell"
    shell.mkdir()
    builds.build_all(jobs, own_design(), shell, print)
    by_xargs = by_shell(jobs, shell)
    engine = by_engine(suite, base / "engine")
    print(f"  shell loop {by_xargs:.2f} s, engine {engine:.2f} s", flush=True)
    last = json.loads((base / "engine" / "latest" / run_folder.SUMMARY).read_text())
    return {
        "suite": suite,
        "jobs": len(jobs),
        "slots": SLOTS,
        "shell_seconds": round(by_xargs, 3),
        "engine_seconds": round(engine, 3),
        "overhead_percent": round(100 * (engine / by_xargs - 1), 2),
        "engine_cpu_seconds": last["engine_cpu_seconds"],
        "utilization": last["utilization"],
    }


def run_scaling(suite: str, base: Path) -> dict[str, Any]:
    """Run the Verilator jobs of a suite with one and with two at a time."""
    jobs = suites.expand(suites.load(run_folder.SUITES), suite, 1)
    wanted = [job for job in jobs if job.simulator == "verilator" and job.simulates]
    wanted = wanted[:: -(-len(wanted) // SCALING_JOBS)]
    seconds = {}
    for slots in (1, 2):
        folder = base / f"slots-{slots}"
        folder.mkdir()
        builds.build_all(wanted, own_design(), folder, print)
        held = clusters.start("local", slots, folder)
        records: list[JobRecord] = []

        def run(
            held: clusters.Cluster = held,
            folder: Path = folder,
            records: list[JobRecord] = records,
        ) -> None:
            dispatch.run_jobs(
                held,
                wanted,
                folder,
                design="",
                stop=Stop(),
                on_record=records.append,
                on_tick=lambda running, workers: None,
            )

        seconds[slots] = timed(run)
        held.close()
        if not all(record.passed for record in records) or len(records) != len(wanted):
            raise RuntimeError(f"jobs failed: see {folder}")
        print(f"  {slots} at a time: {seconds[slots]:.2f} s", flush=True)
    return {
        "suite": suite,
        "jobs": len(wanted),
        "one_seconds": round(seconds[1], 3),
        "two_seconds": round(seconds[2], 3),
        "speed_up": round(seconds[1] / seconds[2], 3),
    }


def run_stop(suite: str, base: Path) -> dict[str, Any]:
    """Interrupt a suite when some jobs are done and others run."""
    process = start_engine(suite, base)
    results = base / "latest" / run_folder.RESULTS
    while not (results.exists() and results.read_bytes().count(b"\n") >= 2 * SLOTS):
        if process.poll() is not None:
            raise RuntimeError(f"the regression ended before it could be interrupted: see {base}")
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stopped = timed(process.wait)
    state = json.loads((base / "latest" / run_folder.SUMMARY).read_text())["state"]
    if state != "interrupted":
        raise RuntimeError(f"the regression is {state}, not interrupted: see {base}")
    return {
        "suite": suite,
        "stop_seconds": round(stopped, 3),
        "report_seconds": round(timed(lambda: make_report(own_design())), 3),
    }


def main() -> int:
    """Measure what was asked for, print it, and write it to ``build/results``."""
    parser = Parser(prog="bench-regress", description=__doc__)
    parser.add_argument("--parts", default=" ".join(PARTS))
    parser.add_argument("--suite", default="nightly")
    args = parser.parse_args()
    parts = args.parts.split()
    if not parts or set(parts) - set(PARTS):
        fail("bench-regress", f"PARTS={args.parts}: known: {' '.join(PARTS)}")
    result: dict[str, Any] = {}
    base = Path(tempfile.mkdtemp(prefix="ga2-bench-"))
    try:
        if "noop" in parts:
            (base / "noop").mkdir()
            result["noop"] = run_noop(base / "noop")
        if "overhead" in parts:
            (base / "overhead").mkdir()
            result["overhead"] = run_overhead(args.suite, base / "overhead")
        if "scaling" in parts:
            (base / "scaling").mkdir()
            result["scaling"] = run_scaling(args.suite, base / "scaling")
        if "stop" in parts:
            result["stop"] = run_stop(args.suite, base / "stop")
    finally:
        shutil.rmtree(base, ignore_errors=True)
    before = files.read_json(RESULT) or {}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(RESULT, {**before, **result}, indent=1)
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
