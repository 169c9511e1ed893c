"""Directed programs at powers of two: every address, length, count, counter and sum of the chip."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from model.chip.fixed_point import EXP_TABLE
from model.chip.isa import EXT_WORDS, SPAD_WORDS, Instruction, Op, amax, instruction, mm, rq, sm, st
from model.chip.operation_table import (
    EXECUTED,
    MAX_K,
    MAX_TILE,
    VECTORS,
    Operand,
    Operation,
)
from model.chip.timing import OVERHEAD, busy_cycles
from verif.bins.boundaries import COUNTED, COUNTERS, ENDS, LONGEST_SUM, PASSED, around, places
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern, words
from verif.stimulus.registry import directed, register

FAMILY = "boundaries"
APART = 1000  # words between the operands of an instruction


def _laid_out(row: Operation, moved: Operand, base: int, length: int) -> Instruction:
    """An instruction with one operand at ``base``, the others far from it and from each other."""
    given: dict[str, int] = {"len": length} if row.length else {"M": 2, "K": 2, "N": 2, "ldb": 2}
    for place, operand in enumerate(row.regions, 1):
        given[operand.name] = (base + APART * place) % (4 * APART)
    given[moved.name] = base
    rest = {o.name: 1 for o in row.operands if o.name not in given and o.default is None}
    return instruction(row.op, **given, **rest)


def _region(row: Operation, operand: Operand, power: int, place: str) -> Instruction:
    matrix = row.op == Op.MM
    words_of = (lambda _: 4) if matrix else operand.size
    length = max((n for n in range(1, 5) if words_of(n) <= power), default=1)
    if place == "across":
        length = 4
    base = {
        "across": max(0, power - 2),
        "ends": power - words_of(length),
        "begins": power,
        "beside": power + 1,
    }[place]
    return _laid_out(row, operand, base, length)


def _regions(row: Operation) -> ProgramItem:
    """Every operand of an operation across, at and beside every power of two."""
    b = Builder(f"powers_in_addresses_{row.name.lower()}")
    external = any(operand.memory == "ext" for operand in row.regions)
    if row.op == Op.LD:
        b.ext(0, pattern(EXT_WORDS, salt=60))
    for operand in row.regions:
        for name in places(operand, row.op == Op.MM):
            power, place = name.split("/")
            if row.op == Op.MM and place == "ends" and int(power) < 4:
                b.add(_single(operand, int(power) - 1))
            else:
                b.add(_region(row, operand, int(power), place))
    return b.item(depth=EXT_WORDS) if external else b.item()


def _single(operand: Operand, base: int) -> Instruction:
    """MM of one word by one word with one operand at ``base``."""
    given = {"dst": 1000, "A": 2000, "B": 3000} | {operand.name: base}
    return instruction(Op.MM, **given, M=1, K=1, N=1)


def _lengths(row: Operation) -> ProgramItem:
    """Lengths of an operation at powers of two and beside them; the longest is another's."""
    b = Builder(f"powers_in_lengths_{row.name.lower()}")
    if row.op == Op.LD:
        b.ext(0, pattern(SPAD_WORDS, salt=61))
    for length in around(row.longest_that_fits - 1):
        given = {o.name: 0 for o in row.regions} | {"len": length}
        if row.overlap == "never":
            given[row.sources[0].name] = SPAD_WORDS - length
        rest = {o.name: 1 for o in row.operands if o.name not in given and o.default is None}
        b.add(instruction(row.op, **given, **rest))
    return b.item()


def _register(kind: str, make: Callable[[Operation], ProgramItem], row: Operation) -> None:
    about = (make.__doc__ or "").splitlines()[0]
    register(f"powers_in_{kind}_{row.name.lower()}", FAMILY, about, partial(make, row))


for _row in EXECUTED:
    _register("addresses", _regions, _row)
for _row in VECTORS:
    _register("lengths", _lengths, _row)


@directed(FAMILY)
def powers_in_matrix_steps() -> ProgramItem:
    """K and the three strides of MM at every power of two and beside it."""
    b = Builder("powers_in_matrix_steps")
    for k in around(MAX_K):
        b.add(mm(3000, 100, 400, 1, k, 2, tb=1, ldb=k))
    for stride in around(SPAD_WORDS - 1):
        b.add(mm(3000 + stride % 7, 5, 2000, 2, 2, 2, lda=stride, ldb=stride, ldc=stride))
    return b.item()


@directed(FAMILY)
def powers_in_argmax() -> ProgramItem:
    """The maximum at every index that is a power of two, or one beside it."""
    b = Builder("powers_in_argmax").spad(0, words([-5] * SPAD_WORDS)).spad(SPAD_WORDS - 1, [7])
    for index in around(SPAD_WORDS - 2):
        b.add(amax(0, SPAD_WORDS - 1 - index, index + 1))
    return b.item()


@directed(FAMILY)
def powers_in_products() -> ProgramItem:
    """RQ of products of both signs with every highest bit, exact powers among them."""
    b = Builder("powers_in_products")
    for bit in range(55):
        up = min(bit, 30 + (bit == 54))
        high = (1 << up) if bit < 54 else (1 << 31) - 1
        at = 8 * bit
        b.spad(at, [high, -(1 << up), (3 << up) // 2 if bit < 54 else high])
        shift = max(0, bit - 6)
        b.add(rq(at + 4, at, 3, 1 << (bit - up), shift))
        if bit == 54:
            b.add(rq(at + 4, at, 1, (1 << 24) - 1, shift))
    return b.item()


def _terms(target: int, parts: list[int]) -> list[int]:
    """Indices of ``parts``, falling values that end at 1, whose sum is ``target``."""
    chosen = []
    for index, part in enumerate(parts):
        if part:
            chosen += [index] * (target // part)
            target -= part * (target // part)
    return chosen


@directed(FAMILY)
def powers_in_softmax() -> list[ProgramItem]:
    """Sums of exponentials that are a power of two, one less and one more."""
    items = []
    parts = [int(part) for part in EXP_TABLE]
    for bit in range(16, LONGEST_SUM + 1):
        for off in (-1, 0, 1):
            scores = [127 - d for d in _terms((1 << bit) + off, parts)]
            name = f"powers_in_softmax/{bit}_{('below', 'exact', 'above')[off + 1]}"
            b = Builder(name).spad(0, words(scores))
            items.append(b.add(sm(0, 0, len(scores))).item())
    return items


_NEGATIVE = [(-128, 127), *((-(1 << k), 1 << k) for k in range(6, -1, -1))]
_POSITIVE = [(-128, -128), *((1 << k, 1 << k) for k in range(6, -1, -1))]


@directed(FAMILY)
def powers_in_matrix_sums() -> list[ProgramItem]:
    """Sums of MM that are a power of two, one less and one more, of both signs."""
    targets = [
        (sign * ((1 << bit) + off), pairs)
        for bit in range(3, 21)
        for off in (-1, 0, 1)
        for sign, pairs in ((1, _POSITIVE), (-1, _NEGATIVE))
        if bit < 20 or (off == 0 and sign > 0)  # 2**20 - 1 is no sum of 64 products
    ]
    items = []
    for first in range(0, len(targets), 16):
        b = Builder(f"powers_in_matrix_sums/{first // 16}")
        for row, (target, pairs) in enumerate(targets[first : first + 16]):
            chosen = _terms(abs(target), [abs(x * y) for x, y in pairs])
            if len(chosen) > MAX_K:
                raise ValueError(f"no {MAX_K} products of int8 give {target} this way")
            b.spad(128 * row, [pairs[index][0] for index in chosen])
            b.spad(128 * row + 64, [pairs[index][1] for index in chosen])
            b.add(mm(3000 + row, 128 * row, 128 * row + 64, 1, len(chosen), 1, ldb=1))
        items.append(b.item())
    return items


@lru_cache(maxsize=1)
def _matrices() -> dict[int, Instruction]:
    """A cheapest MM for each busy time."""
    made: dict[int, Instruction] = {}
    for m in range(1, MAX_TILE + 1):
        for n in range(1, MAX_TILE + 1):
            for k in range(1, MAX_K + 1):
                product = mm(3000, 100, 400, m, k, n, ldb=n)
                made.setdefault(busy_cycles(product), product)
    return made


def _busy(counter: str, cycles: int) -> list[Instruction]:
    """Instructions of a counter's unit that are busy for so many cycles in all."""
    if counter == "dma":
        return [st(0, 0, cycles - 2)]
    if counter == "vec":
        return [rq(0, 0, cycles - 2, 1 << 20, 20)]
    made = _matrices()
    chosen = []
    while cycles > max(made) + 100:
        chosen.append(made[max(made)])
        cycles -= max(made)
    pair = next(time for time in made if cycles - time in made or cycles == time)
    return [*chosen, made[pair], *([made[cycles - pair]] if cycles != pair else [])]


@directed(FAMILY)
def powers_in_counters() -> list[ProgramItem]:
    """Programs that end with a counter of cycles at a power of two, or one beside it."""
    items = []
    for counter, least in COUNTERS.items():
        for value in around(COUNTED, least):
            b = Builder(f"powers_in_counters/{counter}_{value}")
            if counter == "total":
                b.add(*_busy("vec", value - 2 * OVERHEAD))
            else:
                b.add(*_busy(counter, value))
            items.append(b.item(depth=SPAD_WORDS))
    return items


@directed(FAMILY)
def counters_beyond() -> list[ProgramItem]:
    """Programs that drive each counter of cycles to 2**14."""
    items = []
    for counter in COUNTERS:
        if counter == "total":
            continue
        b = Builder(f"counters_beyond/{counter}")
        for _ in range(8):
            b.add(*_busy(counter, (1 << PASSED[-1]) // 8))
        items.append(b.item(depth=SPAD_WORDS))
    return items


@directed(FAMILY)
def powers_in_program_counter() -> list[ProgramItem]:
    """HALTs and faults at every address that is a power of two, or one beside it."""
    items = []
    cheap = [rq(400 + i, 100 + i, 1, 1 << 20, 40) for i in range(5)]
    for kind in ("halt", "fault"):
        for value in around(ENDS):
            b = Builder(f"powers_in_program_counter/{value}_{kind}")
            b.add(*(cheap * (value // len(cheap) + 1))[:value])
            if kind == "fault":
                b.add(Instruction(15))
            items.append(b.item())
    return items
