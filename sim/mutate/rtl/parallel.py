"""Threads that each wait for child processes; an interruption ends those at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TypeVar

import psutil

Result = TypeVar("Result")


def each(
    work: Callable[[int], Result], numbers: Iterable[int], workers: int
) -> Iterator[tuple[int, Result]]:
    """Yield the number and the result of each piece of work as it ends."""
    pool = ThreadPoolExecutor(workers)
    try:
        running = {pool.submit(work, number): number for number in numbers}
        for done in as_completed(running):
            yield running[done], done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
