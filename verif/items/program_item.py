"""A program with everything around it: the unit of work of the whole flow.

Plain data without pyuvm or cocotb, because front ends outside the simulator make items too;
``ProgramTransaction`` carries one through the sequencer.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields

import numpy as np

from model.chip.image import Words
from model.chip.isa import EXT_WORDS, SPAD_WORDS, Op, decode
from model.chip.machine import DEFAULT_DEPTH, MAX_PROGRAM
from model.chip.timeline import timeline
from model.chip.timing import DEFAULT_LATENCY, OVERHEAD, Latency

MAX_LATENCY = 64
RESET_CYCLES = 2  # of a reset, unless an item says otherwise


class ProgramItemError(ValueError):
    """An item that the testbench could not play as described."""


def _no_words() -> Words:
    return np.zeros(0, dtype=np.uint32)


@dataclass
class ProgramItem:
    """One program run.

    Attributes:
        name: short, unique within a job.
        program: 128-bit instruction words; an address past the end reads as HALT.
        image: initial external memory, uint32, at most ``depth`` words, continued with zeros.
        inherits: the external memory is what the last program of the job left, or all zero; the
            item brings no image, and has the depth of that program.
        spad: scratchpad before the program, uint32 (4096,); None keeps what the last one left.
        latency: of the external memory in cycles, 1..64.
        latencies: latency of each read request in turn, 1..64, repeated; answered by the reactive
            driver in Python instead of the HDL memory. Empty: ``latency`` for all.
        depth: words of external memory, 1..65,536. Reads beyond give 0, writes are dropped.
        reset_before: assert reset before the program.
        reset_cycles: length of the item's resets, 1 or more.
        start_in_reset: ``start`` is high in all cycles of these resets, to be ignored.
        start_pulses: cycles in which ``start`` is raised again while the program runs (to be
            ignored). Cycle 1 is the first FETCH.
        abort_at: reset in this cycle, load everything again, then run to the end; the aborted
            part is not compared. Needs ``spad``.
        late_answers: the memory goes on answering what was requested before that reset, at most
            until the cycle of the clean run's first request. Needs ``abort_at`` and ``latencies``.
        restart_after: raise ``start`` again in this halted cycle, 0 being the first: the program
            runs once more on what its first run left in both memories. None: it runs once.
        start_held: ``start`` stays high from the beginning over the end of the first run. Needs a
            restart in the first halted cycle, and no pulses.
        idle_after: cycles between the end of the program, or the reset that aborts it, and what
            follows.
        cycle_limit: cycles after which the program counts as hung; None: twice what the cycle
            model allows and some slack.
        provenance: where it comes from, for a reader.
        rerun: command that plays this program again; empty: the front end names one.

    Raises:
        ProgramItemError: a value outside its range.
    """

    name: str
    program: list[int]
    image: Words = field(default_factory=_no_words)
    spad: Words | None = None
    latency: int = DEFAULT_LATENCY
    latencies: tuple[int, ...] = ()
    depth: int = DEFAULT_DEPTH
    reset_before: bool = False
    reset_cycles: int = RESET_CYCLES
    start_in_reset: bool = False
    start_pulses: tuple[int, ...] = ()
    abort_at: int | None = None
    late_answers: bool = False
    restart_after: int | None = None
    start_held: bool = False
    idle_after: int = 0
    cycle_limit: int | None = None
    inherits: bool = False
    provenance: str = ""
    rerun: str = ""

    def __post_init__(self) -> None:
        self.image = np.ascontiguousarray(self.image, dtype=np.uint32)
        self._require(len(self.program) <= MAX_PROGRAM, "program length", len(self.program))
        self._require(1 <= self.depth <= EXT_WORDS, "depth", self.depth)
        self._require(
            self.image.ndim == 1 and self.image.size <= self.depth, "image shape", self.image.shape
        )
        if self.inherits:
            self._require(
                self.image.size == 0, "inherited memory with an image of", self.image.size
            )
            self._require(not self.latencies, "inherited memory with latencies", self.latencies)
            self._require(self.abort_at is None, "inherited memory with abort in", self.abort_at)
        for latency in (self.latency, *self.latencies):
            self._require(1 <= latency <= MAX_LATENCY, "latency", latency)
        for cycle in self.start_pulses:
            self._require(cycle >= 1, "start pulse in cycle", cycle)
        self._require(self.idle_after >= 0, "idle cycles", self.idle_after)
        self._require(self.reset_cycles >= 1, "reset cycles", self.reset_cycles)
        if self.restart_after is not None:
            self._require(self.restart_after >= 0, "restart after", self.restart_after)
        if self.start_held:
            self._require(self.restart_after == 0, "start held, restart", self.restart_after)
            self._require(not self.start_pulses, "start held and pulses", self.start_pulses)
        if self.spad is not None:
            self.spad = np.ascontiguousarray(self.spad, dtype=np.uint32)
            self._require(self.spad.shape == (SPAD_WORDS,), "scratchpad shape", self.spad.shape)
        if self.abort_at is not None:
            self._require(self.abort_at >= 1, "abort in cycle", self.abort_at)
            self._require(self.spad is not None, "abort without scratchpad contents", None)
        if self.late_answers:
            self._require(self.abort_at is not None, "late answers without abort", None)
            self._require(self.reactive, "late answers without latencies", self.latencies)
            self._check_late_answers()

    def _check_late_answers(self) -> None:
        """Refuse answers that the design could take for those of the clean run's requests."""
        assert self.abort_at is not None
        first, last = request_cycles(self.program, self.latencies, self.abort_at)
        clean = self.abort_at + self.reset_cycles + self.idle_after + first
        if last > clean:
            raise ProgramItemError(
                f"item {self.name!r}: late answers come until cycle {last}, but the run after the "
                f"reset in cycle {self.abort_at} requests from cycle {clean} on, and an answer of "
                f"before the reset may come no later than that: abort it elsewhere, lower the "
                f"latencies"
            )

    def _require(self, holds: bool, what: str, value: object) -> None:
        if not holds:
            raise ProgramItemError(f"item {self.name!r}: {what} {value!r} is not possible")

    @property
    def reactive(self) -> bool:
        """True when Python answers the read requests."""
        return bool(self.latencies)

    @property
    def read_latency(self) -> Latency:
        """Latency as the model takes it: fixed, or one per request."""
        return self.latencies if self.latencies else self.latency

    def digest(self) -> str:
        """Return a name for the whole item: 32 hexadecimal digits, the same for equal items.

        Every field counts, one that a subclass adds too.

        Raises:
            TypeError: a field is of a kind that has no lasting text.
        """
        digest = hashlib.blake2b(digest_size=16)
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, np.ndarray):
                digest.update(f"{one.name}\0{value.dtype}{value.shape}\0".encode())
                digest.update(value.tobytes())
            elif isinstance(value, int | str | list | tuple | None):
                digest.update(f"{one.name}\0{value!r}\0".encode())
            else:
                raise TypeError(f"{one.name}: no digest of a {type(value).__name__}")
        return digest.hexdigest()


def request_cycles(program: list[int], latencies: tuple[int, ...], until: int) -> tuple[int, int]:
    """When a program makes its first read request, and when the last answer comes.

    Args:
        program: 128-bit instruction words.
        latencies: of each request in turn, repeated.
        until: cycle of the last request that counts, 1 being the first FETCH.

    Returns:
        Cycle of the first request, and that in which the last answer to a request of up to
        ``until`` comes; 0 and 0 without requests.
    """
    loads = [slot for slot in timeline(program, latencies) if slot.op == Op.LD and slot.busy]
    requests = [
        slot.fetch + OVERHEAD + word for slot in loads for word in range(decode(program[slot.pc]).c)
    ]
    last = 0
    for number, cycle in enumerate(requests):
        if cycle > until:
            break
        last = max(cycle + latencies[number % len(latencies)], last + 1)
    return (requests[0] if requests else 0), last
