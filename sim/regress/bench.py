"""`make bench-regress`: what the engine itself costs, measured beside what it is compared with.

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
from sim.shared.cli import Parser, fail, integer
from sim.shared.paths import RESULTS, ROOT
from verif.typed import plain

RESULT = RESULTS / "bench-regress.json"
PARTS = ("noop", "overhead", "scaling", "stop")
SCALING_JOBS = 16


def timed(action: Callable[[], Any]) -> float:
    """Return the seconds that `action` takes."""
    begin = time.monotonic()
    action()
    return time.monotonic() - begin


def noop_jobs(count: int) -> list[JobSpec]:
    """Return jobs that end at once, without a process."""
    return suites.expand_group(suites.Group(name="noop", kind="noop", seeds=count), 1)


def run_noop(count: int, slots: int, folder: Path) -> dict[str, float]:
    """Run jobs that do nothing through cluster, engine and result log. Times in seconds."""
    jobs = noop_jobs(count)
    progress = Progress({job.id: job for job in jobs}, slots)
    held: list[clusters.Cluster] = []
    start = timed(lambda: held.append(clusters.start("local", slots, folder)))
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
    if progress.done != count:
        raise RuntimeError(f"{progress.done} of {count} jobs came back")
    return {
        "jobs": count,
        "start_seconds": round(start, 3),
        "seconds": round(seconds, 3),
        "ms_per_job": round(1e3 * seconds / count, 4),
        # Does not depend on what else the machine does.
        "cpu_ms_per_job": round(1e3 * computed / count, 4),
    }


def start_engine(file: Path, suite: str, slots: int, base: Path) -> subprocess.Popen[bytes]:
    """Start a suite as `make regress` does, in a fresh folder."""
    argv = [sys.executable, "-m", "sim.regress", "--file", file, "--suite", suite]
    options = ["--jobs", slots, "--base", base]
    words = [str(word) for word in (*argv, *options)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)


def by_engine(file: Path, suite: str, slots: int, base: Path) -> float:
    """Run a suite as `make regress` does; return its seconds, all included."""

    def run() -> None:
        if code := start_engine(file, suite, slots, base).wait():
            raise RuntimeError(f"the regression ended with {code}: see {base}")

    return timed(run)


def by_shell(jobs: Sequence[JobSpec], slots: int, base: Path) -> float:
    """Run jobs by `xargs -P`, each with the command that the engine uses; return the seconds."""
    lines = []
    for job in jobs:
        folder = base / "jobs" / job.id
        folder.mkdir(parents=True)
        files.write_json(folder / run_folder.SPEC, plain(job))
        lines.append(" ".join(command(folder)) + f" > {folder}/job.log 2>&1")
    text = "\n".join(lines) + "\n"
    shell = ["xargs", "-P", str(slots), "-d", "\\n", "-n", "1", "sh", "-c", "eval $0"]
    env = environment(base)
    return timed(lambda: subprocess.run(shell, input=text, text=True, env=env, check=True))


def run_overhead(file: Path, suite: str, slots: int, rounds: int, base: Path) -> dict[str, Any]:
    """Compare engine and shell loop on a suite, in turn; the best time of each counts."""
    jobs = suites.expand(suites.load(file), suite, 1)
    engine_times, shell_times = [], []
    for number in range(rounds):
        shell = base / f"shell-{number}"
        shell.mkdir()
        builds.build_all(jobs, own_design(), shell, print)
        shell_times.append(by_shell(jobs, slots, shell))
        engine_times.append(by_engine(file, suite, slots, base / f"engine-{number}"))
        print(f"  shell loop {shell_times[-1]:.2f} s, engine {engine_times[-1]:.2f} s", flush=True)
    best = min(engine_times) / min(shell_times) - 1
    last = json.loads((base / f"engine-{rounds - 1}" / "latest" / run_folder.SUMMARY).read_text())
    return {
        "suite": suite,
        "jobs": len(jobs),
        "slots": slots,
        "shell_seconds": [round(value, 3) for value in shell_times],
        "engine_seconds": [round(value, 3) for value in engine_times],
        "overhead_percent": round(100 * best, 2),
        "engine_cpu_seconds": last["engine_cpu_seconds"],
        "utilization": last["utilization"],
    }


def run_scaling(file: Path, suite: str, base: Path) -> dict[str, Any]:
    """Run the Verilator jobs of a suite with one and with two at a time."""
    jobs = suites.expand(suites.load(file), suite, 1)
    wanted = [job for job in jobs if job.simulator == "verilator" and job.kind != "command"]
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


def run_stop(file: Path, suite: str, slots: int, base: Path) -> dict[str, Any]:
    """Interrupt a suite when some jobs are done and others run."""
    process = start_engine(file, suite, slots, base)
    results = base / "latest" / run_folder.RESULTS
    while not (results.exists() and results.read_bytes().count(b"\n") >= 2 * slots):
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
        "report_seconds": round(timed(make_report), 3),
    }


def main() -> int:
    """Measure what was asked for, print it, and write it to `build/results`."""
    parser = Parser(prog="bench-regress", description=__doc__)
    parser.add_argument("--parts", default=" ".join(PARTS))
    parser.add_argument("--count", type=integer, default=10_000, help="jobs that do nothing")
    parser.add_argument("--suite", default="nightly")
    parser.add_argument("--jobs", type=integer, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=integer, default=1)
    parser.add_argument("--file", type=Path, default=run_folder.SUITES)
    args = parser.parse_args()
    parts = args.parts.split()
    if not parts or set(parts) - set(PARTS):
        fail("bench-regress", f"PARTS={args.parts}: known: {' '.join(PARTS)}")
    result: dict[str, Any] = {}
    base = Path(tempfile.mkdtemp(prefix="ga2-bench-"))
    try:
        if "noop" in parts:
            (base / "noop").mkdir()
            result["noop"] = run_noop(args.count, args.jobs, base / "noop")
        if "overhead" in parts:
            (base / "overhead").mkdir()
            result["overhead"] = run_overhead(
                args.file, args.suite, args.jobs, args.rounds, base / "overhead"
            )
        if "scaling" in parts:
            (base / "scaling").mkdir()
            result["scaling"] = run_scaling(args.file, args.suite, base / "scaling")
        if "stop" in parts:
            result["stop"] = run_stop(args.file, args.suite, args.jobs, base / "stop")
    finally:
        shutil.rmtree(base, ignore_errors=True)
    before = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    files.write_json(RESULT, {**before, **result}, indent=1)
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)
