"""Comparisons of one program's observation with its prediction: functions without a simulator.

Each returns how many values it compared and the mismatches found. ``CHECKS`` lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from model.chip.assembler import disassemble
from model.chip.image import Words
from model.chip.machine import Retire
from model.chip.operations import plan_word
from verif.agents.control.observation import RETIRE_FIELDS, Observation
from verif.env.predictor import Prediction
from verif.env.protocol import PROTOCOL_ERRORS, UNKNOWN_BITS, codes_of
from verif.items.result import Mismatch, MismatchKind

SHOWN = 8  # words of memory, bursts or records named one by one

Found = tuple[int, list[Mismatch]]
Burst = tuple[str, int, int]  # kind, address, length


def instruction_at(prediction: Prediction, pc: int) -> str:
    """Disassembly of the instruction at ``pc``; an address past the program is a HALT."""
    program = prediction.item.program
    return disassemble(program[pc]) if pc < len(program) else "HALT"


def retire_rows(retires: Sequence[Retire]) -> npt.NDArray[np.int64]:
    """Predicted retire records, int64 (n, 7) in the order of ``RETIRE_FIELDS``."""
    rows = [
        (r.pc, r.op, r.fault != 0, r.busy, r.spad_writes, r.ext_writes, r.signature)
        for r in retires
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, len(RETIRE_FIELDS))


def expected_writes(prediction: Prediction) -> Words:
    """Predicted external writes in order, uint32 (n, 2): address, data."""
    stores = prediction.stores
    log = np.empty((sum(s.data.size for s in stores), 2), dtype=np.uint32)
    row = 0
    for store in stores:
        end = row + store.data.size
        log[row:end, 0] = np.arange(store.addr, store.addr + store.data.size)
        log[row:end, 1] = store.data
        row = end
    return log


def compare_end(prediction: Prediction, seen: Observation) -> Found:
    """The program ended by itself."""
    if not seen.hung:
        return 1, []
    done = "?" if seen.retires is None else str(len(seen.retires))
    total = seen.counters.total if seen.counters else "?"
    text = f"hang: not halted after {total} cycles ({done} instructions retired)"
    return 1, [Mismatch("hang", text, expected="halted", got="running")]


def compare_counters(prediction: Prediction, seen: Observation) -> Found:
    """The five counters."""
    if seen.counters is None:
        return 5, [Mismatch("x", "a counter has unknown bits at the end")]
    found = []
    for name in ("total", "mm", "dma", "vec", "n_inst"):
        want, got = getattr(prediction.expected.counters, name), getattr(seen.counters, name)
        if want != got:
            text = f"counter {name}: expected {want}, got {got} ({got - want:+d})"
            found.append(Mismatch("counter", text, expected=str(want), got=str(got)))
    return 5, found


def compare_fault(prediction: Prediction, seen: Observation) -> Found:
    """The fault outputs; ``start`` cleared code and address, so they are 0 without a fault."""
    expected = prediction.expected
    want: list[int | None] = [int(expected.fault != 0), int(expected.fault), expected.fault_pc]
    got = [seen.fault, seen.fault_code, seen.fault_pc]
    if want == got:
        return 3, []
    names = ("fault", "fault_code", "fault_pc")
    texts = [", ".join(map("{}={}".format, names, values)) for values in (want, got)]
    # Where the program should have faulted, not what a wrong output says.
    pc = expected.fault_pc if expected.fault else seen.fault_pc
    return 3, [
        Mismatch(
            "x" if None in got else "fault",
            f"fault outputs: expected {texts[0]}, got {texts[1]}",
            pc,
            instruction_at(prediction, pc or 0),
            texts[0],
            texts[1],
        )
    ]


def compare_memory(prediction: Prediction, seen: Observation) -> Found:
    """The whole external memory, word for word."""
    want, got = prediction.expected.ext, seen.memory
    if got.shape != want.shape:
        found = [Mismatch("x", f"ext[{i}] has unknown bits") for i in seen.unknown[:SHOWN]]
        text = f"the dump of the external memory has {got.size} words, the item {want.size}"
        return 1, [*found, Mismatch("testbench", text)]
    found = different_words("memory", "ext", want, got, seen.unknown, prediction, last_writer)
    return want.size, found


def compare_scratchpad(prediction: Prediction, seen: Observation) -> Found:
    """The whole scratchpad, word for word."""
    if seen.spad is None:
        return 0, []
    want, writer = prediction.spad_after, last_scratchpad_writer
    found = different_words(
        "scratchpad", "spad", want, seen.spad, seen.spad_unknown, prediction, writer
    )
    return want.size, found


def different_words(
    kind: MismatchKind,
    name: str,
    want: Words,
    got: Words,
    unknown: Sequence[int],
    prediction: Prediction,
    writer: Callable[[Prediction, int], int | None],
) -> list[Mismatch]:
    """Words of a memory that differ or have unknown bits, each with the instruction to blame.

    Args:
        kind: of the mismatches.
        name: of the memory in messages.
        want, got: its words, of one length.
        unknown: addresses of words with unknown bits.
        prediction: what the program should have done.
        writer: says which instruction should have written a word last.
    """
    found = [Mismatch("x", f"{name}[{i}] has unknown bits") for i in unknown[:SHOWN]]
    wrong = np.flatnonzero(want != got)
    for i in wrong[:SHOWN]:
        pc = writer(prediction, int(i))
        text = f"{name}[{i}]: expected {describe_word(want[i])}, got {describe_word(got[i])}"
        found.append(
            Mismatch(
                kind,
                text + (f" ({wrong.size} words differ)" if i == wrong[0] else ""),
                pc,
                "" if pc is None else instruction_at(prediction, pc),
                f"0x{want[i]:08x}",
                f"0x{got[i]:08x}",
                int(i),
            )
        )
    return found


def last_scratchpad_writer(prediction: Prediction, address: int) -> int | None:
    """Address of the last instruction that should have written the scratchpad word, if any."""
    for retire in reversed(prediction.expected.retires):
        plan = plan_word(prediction.item.program[retire.pc])
        written = range(plan.instr.a, plan.instr.a + retire.spad_writes)
        if address in (written if plan.matrix is None else plan.matrix.c):
            return retire.pc
    return None


def describe_word(word: np.uint32) -> str:
    """A memory word in hexadecimal and as a signed number."""
    return f"0x{word:08x} ({int(np.int32(word.view(np.int32)))})"


def last_writer(prediction: Prediction, address: int) -> int | None:
    """Address of the last ST that should have written the external word, if any."""
    for store in reversed(prediction.stores):
        if store.addr <= address < store.addr + store.data.size:
            return store.pc
    return None


def compare_replay(prediction: Prediction, seen: Observation) -> Found:
    """Initial image plus observed writes gives the dump, without a look at the model."""
    item = prediction.item
    replay = np.zeros(item.depth, dtype=np.uint32)
    replay[: prediction.image.size] = prediction.image
    inside = seen.writes[seen.writes[:, 0] < item.depth]
    replay[inside[:, 0]] = inside[:, 1]
    if np.array_equal(replay, seen.memory):
        return item.depth, []
    if replay.shape != seen.memory.shape:
        return 0, []  # compare_memory says so
    i = int(np.flatnonzero(replay != seen.memory)[0])
    text = (
        f"the testbench disagrees with itself at ext[{i}]: image and observed writes give "
        f"{describe_word(replay[i])}, the dump has {describe_word(seen.memory[i])}"
    )
    return item.depth, [Mismatch("testbench", text)]


def compare_writes(prediction: Prediction, seen: Observation) -> Found:
    """Every external write, address and data, in order."""
    want, got = expected_writes(prediction), seen.writes
    if np.array_equal(want, got):
        return want.size, []
    i = first_difference(want, got)
    expected = f"ext[{want[i, 0]}] = 0x{want[i, 1]:08x}" if i < len(want) else "no further write"
    actual = f"ext[{got[i, 0]}] = 0x{got[i, 1]:08x}" if i < len(got) else "no further write"
    pc = pc_of_write(prediction, i)
    text = f"external write {i}: expected {expected}, got {actual} ({len(got)} of {len(want)} seen)"
    where = "" if pc is None else instruction_at(prediction, pc)
    return want.size, [Mismatch("traffic", text, pc, where, expected, actual)]


def first_difference(want: npt.NDArray[np.generic], got: npt.NDArray[np.generic]) -> int:
    """Index of the first row in which two arrays differ, or the length of the shorter."""
    common = min(len(want), len(got))
    different = np.flatnonzero((want[:common] != got[:common]).any(axis=1))
    return int(different[0]) if different.size else common


def pc_of_write(prediction: Prediction, index: int) -> int | None:
    """Address of the ST that external write number ``index`` belongs to, if it is expected."""
    for store in prediction.stores:
        if index < store.data.size:
            return store.pc
        index -= store.data.size
    return None


def compare_bursts(prediction: Prediction, bursts: Sequence[Burst]) -> Found:
    """External traffic as bursts, in order."""
    want = [(b.kind, b.addr, b.length) for b in prediction.expected.bursts]
    got = list(bursts)
    if want == got:
        return len(want) + 1, []
    common = min(len(want), len(got))
    i = next((k for k in range(common) if want[k] != got[k]), common)
    texts = [
        "{0} of {2} words at {1}".format(*side[i]) if i < len(side) else "none"
        for side in (want, got)
    ]
    text = f"burst {i}: expected {texts[0]}, got {texts[1]} ({len(got)} of {len(want)} seen)"
    return len(want) + 1, [Mismatch("traffic", text, expected=texts[0], got=texts[1])]


def compare_retires(prediction: Prediction, seen: Observation) -> Found:
    """Retire records, in order."""
    if seen.retires is None:
        return 0, []
    want, got = retire_rows(prediction.expected.retires), seen.retires
    if np.array_equal(want, got):
        return want.size + 1, []
    i = first_difference(want, got)
    record = want[i] if i < len(want) else got[i]
    pc = int(record[0])
    if i >= len(got):
        differs, expected, actual = "did not retire", "a retire record", "none"
    elif i >= len(want):
        differs, expected, actual = "retired although the program was over", "none", "a record"
    else:
        names = [n for k, n in enumerate(RETIRE_FIELDS) if want[i, k] != got[i, k]]
        expected, actual = (
            ", ".join(f"{n}={record[RETIRE_FIELDS.index(n)]}" for n in names)
            for record in (want[i], got[i])
        )
        differs = f"expected {expected}, got {actual}"
    where = instruction_at(prediction, pc)
    text = f"retire record {i}, pc {pc} `{where}`: {differs}"
    return want.size + 1, [Mismatch("retire", text, pc, where, expected, actual)]


def compare_protocol(prediction: Prediction, seen: Observation) -> Found:
    """The protocol checker, which looked in every cycle, found nothing."""
    protocol = seen.protocol
    if not protocol.count:
        return 1, []
    found = []
    for code in codes_of(protocol.mask):
        text = f"protocol: {PROTOCOL_ERRORS[code]}"
        if code == protocol.first:
            text += f" (first of {protocol.count} errors, in cycle {protocol.first_cycle})"
        found.append(Mismatch("x" if code in UNKNOWN_BITS else "protocol", text))
    return 1, found


def compare_complaints(prediction: Prediction, seen: Observation) -> Found:
    """The design complained of nothing: no assertion of its own failed."""
    return 0, [Mismatch("assertion", text) for text in seen.complaints]


CHECKS: tuple[Callable[[Prediction, Observation], Found], ...] = (
    compare_end,
    compare_counters,
    compare_fault,
    compare_memory,
    compare_scratchpad,
    compare_writes,
    compare_replay,
    compare_retires,
    compare_protocol,
    compare_complaints,
)
