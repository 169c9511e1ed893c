"""Directed programs of instructions that follow each other: triples, dependencies, repeats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.chip.isa import Instruction, Op, halt, instruction, ld, rq, st
from model.chip.operation_table import EXECUTED, OPERATIONS, Operation
from verif.bins.dependencies import RELATIONS
from verif.items.program_item import ProgramItem
from verif.stimulus.builder import Builder
from verif.stimulus.data import pattern
from verif.stimulus.registry import directed

FAMILY = "dependencies"
SLOT = 64  # words between regions that do not touch
LENGTH = 4


def made(row: Operation, dst: int, sources: Sequence[int], ext: int) -> Instruction:
    """A short instruction of any operation with its regions at the given places."""
    given: dict[str, int] = {"len": LENGTH} if row.length else {"M": 2, "K": 2, "N": 2, "ldb": 2}
    given |= {operand.name: ext for operand in row.regions if operand.memory == "ext"}
    if row.destination:
        given[row.destination.name] = dst
    given |= {o.name: base for o, base in zip(row.sources, sources, strict=False)}
    rest = {o.name: 1 for o in row.operands if o.name not in given and o.default is None}
    return instruction(row.op, **given, **rest)


def every_triple() -> list[Operation]:
    """Operations in an order in which each three of them follow each other once: de Bruijn's."""
    count = len(EXECUTED)
    order: list[int] = []
    word = [0] * 4

    def extend(place: int, period: int) -> None:
        if place > 3:
            if 3 % period == 0:
                order.extend(word[1 : period + 1])
            return
        word[place] = word[place - period]
        extend(place + 1, period)
        for symbol in range(word[place - period] + 1, count):
            word[place] = symbol
            extend(place + 1, place)

    extend(1, 1)
    return [EXECUTED[symbol] for symbol in order + order[:2]]


@directed(FAMILY)
def triples_apart() -> ProgramItem:
    """Each three operations one after another, none of which touches what another writes."""
    b = Builder("triples_apart").ext(0, pattern(1024, salt=70))
    for place, row in enumerate(every_triple()):
        slot = place % 4
        dst = 2048 + SLOT * slot
        b.add(made(row, dst, (SLOT * slot, SLOT * (slot + 8)), SLOT * slot))
    return b.item()


@directed(FAMILY)
def triples_dependent() -> ProgramItem:
    """Each three operations one after another, each on what the one before wrote or read."""
    b = Builder("triples_dependent").ext(0, pattern(1024, salt=71))
    last = 0
    stores = 0
    for place, row in enumerate(every_triple()):
        # Behind stores there is only what they read to be written over.
        over = row.op == Op.LD or (stores > 1 and row.overlap != "never")
        dst = last if over else SLOT * (1 + place % 60)
        stores = stores + 1 if row.op == Op.ST else 0
        b.add(made(row, dst, (last, 3900), 0))
        last = dst if row.destination else last
    return b.item()


def _pairs() -> Iterator[tuple[Operation, Operation]]:
    for writer in EXECUTED:
        for reader in EXECUTED:
            if writer.destination and reader.sources:
                yield writer, reader
    yield OPERATIONS[Op.ST], OPERATIONS[Op.LD]


@directed(FAMILY)
def dependent_pairs() -> list[ProgramItem]:
    """Each writer and reader, next to each other and one apart, on same or touching words."""
    items = []
    for distance in (1, 2):
        for relation in RELATIONS:
            b = Builder(f"dependent_pairs/{distance}_{relation}").ext(0, pattern(1024, salt=72))
            for place, (writer, reader) in enumerate(_pairs()):
                base = 1024 + SLOT * (place % 20)
                size = writer.destination.size(LENGTH) if writer.destination else LENGTH
                if writer.op == Op.MM:
                    size = 4
                offset = {"same": 0, "overlapping": -1, "adjacent": size}[relation]
                b.add(made(writer, base, (0, SLOT), 500))
                if distance == 2:
                    b.add(rq(3500, 3000, 1, 1, 0))
                b.add(made(reader, 3600, (base + offset, 3800), 500 + offset))
            items.append(b.item())
    return items


@directed(FAMILY)
def repeats_on_changed_data() -> ProgramItem:
    """Each instruction three times, with a word changed in front of each that it reads."""
    b = Builder("repeats_on_changed_data").ext(0, pattern(1024, salt=73))
    for row in EXECUTED:
        repeated = made(row, 2000, (100, 164), 40)
        b.add(repeated)
        for word in range(3):
            for base in (100, 164):
                b.add(ld(base + word, 600 + 8 * word + base % 8, 1))
            b.add(st(300 + word, 40 + word, 1), repeated)
    return b.add(halt()).item(halted=False)


@directed(FAMILY)
def results_that_go_on() -> list[ProgramItem]:
    """Each operation three times, each reading and writing on where the last one ended."""
    items = []
    for n in (4, 64, 65):
        b = Builder(f"results_that_go_on/{n}").ext(0, pattern(1024, salt=74))
        for row in EXECUTED:
            if not row.length:
                continue
            at = {operand: 1024 * i for i, operand in enumerate(row.sources)}
            at |= {operand: 2000 for operand in row.operands if operand.memory == "ext"}
            if row.destination:
                at[row.destination] = 2048
            rest = {o.name: 1 for o in row.operands if o.default is None}
            for _ in range(3):
                b.add(instruction(row.op, **rest | {o.name: v for o, v in at.items()} | {"len": n}))
                at = {operand: base + operand.size(n) for operand, base in at.items()}
        items.append(b.item(depth=4096))
    return items
