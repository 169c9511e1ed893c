"""Folders of a simulation: its job's, which is kept, and a scratch folder in main memory."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from sim.shared.paths import BUILD

JOBS = BUILD / "jobs"
KEPT_JOBS = 300
KEPT_SECONDS = 600.0  # what is younger stays in any case: another machine may be at work in it
# The files a program is loaded from and dumped to are rewritten for each program. In main memory
# that costs nothing; some disk file systems write every truncated file out at once.
MEMORY = Path("/dev/shm")
SCRATCH_BYTES = 64 << 20  # free there, or the disk is taken


def job_path(sim: str) -> Path:
    """Name a new folder for a job; of the old ones that nobody uses the newest stay."""
    for folder in sorted(JOBS.glob("*-*-*"))[:-KEPT_JOBS]:
        if not in_use(folder):
            shutil.rmtree(folder, ignore_errors=True)
    stamp = time.strftime("%y%m%d%H%M%S")
    return JOBS / f"{stamp}-{sim}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


def in_use(folder: Path) -> bool:
    """Say whether the process that made a job's folder, which is in its name, may still need it."""
    owner = folder.name.split("-")[2]
    if owner.isdecimal() and psutil.pid_exists(int(owner)):
        return True
    try:
        return time.time() - folder.stat().st_mtime < KEPT_SECONDS
    except FileNotFoundError:
        return False


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a simulation a folder for its files, in main memory when there is room, else on disk."""
    try:
        folder = tempfile.TemporaryDirectory(dir=memory(), ignore_cleanup_errors=True)
    except OSError:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as name:
        yield Path(name)


def memory() -> Path | None:
    """Return the file system in main memory; None when it is missing, read-only or full."""
    try:
        space = os.statvfs(MEMORY)
    except OSError:
        return None
    roomy = space.f_bavail * space.f_frsize >= SCRATCH_BYTES
    return MEMORY if roomy and os.access(MEMORY, os.W_OK | os.X_OK) else None
