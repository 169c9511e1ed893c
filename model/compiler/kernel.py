"""Kernels: pieces of a program that are compiled once and bound to addresses each time they run.

A kernel has no HALT and starts from tensors that lie in the scratchpad already. Two things are left
open: the external addresses of its pieces (pages, slots, input rows), and where along a buffer its
tensors lie, counted in rows of the batch. Binding adds numbers to words and compiles nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from model.chip import isa
from model.chip.isa import EXT_WORDS, FIELDS, MAX_LENGTH, SPAD_WORDS, Instruction
from model.chip.operation_table import OPERATIONS
from model.compiler.allocator import FirstFit
from model.compiler.generator import Generator, Piece
from model.compiler.graph import Graph
from model.compiler.scales import Scales
from model.errors import CompileError, ModelError

EXTERNAL_SHIFT = FIELDS["b"][0]  # of the external address in an LD or ST


class BindingError(ModelError, ValueError):
    """Addresses that do not fit the pieces of a kernel."""


@dataclass(frozen=True)
class Place:
    """Scratchpad address of a tensor, and how far it moves for each row of the batch before it."""

    address: int
    per_row: int = 0


@dataclass(frozen=True)
class Kernel:
    """Compiled words and what binding changes in them.

    words: 128-bit instructions without HALT. pieces: LDs and STs to be bound, in order. moves:
    (position, what to add to the word for each row). spad_peak: highest scratchpad word used + 1.
    """

    words: tuple[int, ...]
    pieces: tuple[Piece, ...]
    moves: tuple[tuple[int, int], ...]
    spad_peak: int

    def bind(self, addresses: Sequence[int], row: int = 0) -> list[int]:
        """Words for pieces at these external addresses, for tensors from ``row`` of the batch.

        Raises BindingError for a wrong number of addresses, or one outside external memory.
        """
        if len(addresses) != len(self.pieces):
            raise BindingError(f"{len(addresses)} addresses for {len(self.pieces)} pieces")
        words = list(self.words)
        for position, step in self.moves:
            words[position] += row * step
        for piece, address in zip(self.pieces, addresses, strict=True):
            if not 0 <= address < EXT_WORDS:
                raise BindingError(f"{piece.name}: address {address} outside 0..{EXT_WORDS - 1}")
            words[piece.position] += address << EXTERNAL_SHIFT
        return words


def compile_kernel(
    graph: Graph,
    scales: Scales,
    *,
    places: Mapping[str, Place],
    external: Mapping[str, int],
    reserved: Iterable[tuple[int, int]] = (),
    consumed: Collection[str] = (),
    spad_words: int = SPAD_WORDS,
) -> Kernel:
    """Compile a graph whose named tensors have ``places`` or addresses in ``external`` memory.

    reserved: (address, words) of the scratchpad that temporaries keep out of; so they do of what
    lies at or above ``spad_words``, and of ``consumed`` tensors until these have been read for the
    last time. Raises CompileError like compile_graph().
    """
    spad = FirstFit("scratchpad", spad_words)
    for address, words in reserved:
        spad.reserve(address, words)
    named = {node.name: node.index for node in graph.nodes}
    for name in consumed:
        spad.reserve(places[name].address, graph.nodes[named[name]].size)
    generator = Generator(
        graph,
        scales,
        spad,
        {named[name]: address for name, address in external.items() if name in named},
        {named[name]: place.address for name, place in places.items() if name in named},
        consumed={named[name] for name in consumed},
        compact=True,
    )
    generator.emit_graph()
    movable = [
        (place.address, place.address + graph.nodes[named[name]].size, place.per_row)
        for name, place in places.items()
        if place.per_row and name in named
    ]
    return Kernel(
        words=tuple(isa.encode(instruction) for instruction in generator.code),
        pieces=tuple(generator.pieces),
        moves=tuple(_moves(generator.code, movable)),
        spad_peak=spad.peak,
    )


def _moves(
    code: Sequence[Instruction], movable: Sequence[tuple[int, int, int]]
) -> Iterable[tuple[int, int]]:
    """Which words change by how much for each row: those with an operand in a movable tensor."""
    for position, instruction in enumerate(code):
        step = 0
        for operand in OPERATIONS[instruction.op].operands:
            if operand.memory == "spad":
                address = getattr(instruction, operand.field)
                home = (per for first, end, per in movable if first <= address < end)
                step += next(home, 0) << operand.shift
        if step:
            yield position, step


def boot_kernel(weights: Sequence[tuple[int, int, int]]) -> Kernel:
    """Load (scratchpad address, external address, words) of each resident weight, once for all.

    Neighbours in both memories are loaded together.
    """
    code: list[Instruction] = []
    for near, far, words in weights:
        last = code[-1] if code else None
        joined = last is not None and (last.a + last.c, last.b + last.c) == (near, far)
        if last is not None and joined and last.c + words <= MAX_LENGTH:
            code[-1] = isa.ld(last.a, last.b, last.c + words)
        else:
            code.append(isa.ld(near, far, words))
    return Kernel(tuple(isa.encode(one) for one in code), (), (), 0)


def copy_kernel(words: int) -> Kernel:
    """Copy ``words`` of external memory by way of the scratchpad; bound to source and target.

    Raises CompileError for more words than the scratchpad takes in one go.
    """
    if not 1 <= words <= MAX_LENGTH:
        raise CompileError(f"copy of {words} words, must be 1..{MAX_LENGTH}")
    code = (isa.ld(0, 0, words), isa.st(0, 0, words))
    pieces = (Piece(0, "source", 0, 1), Piece(1, "target", 0, 1))
    return Kernel(tuple(isa.encode(one) for one in code), pieces, (), words)
