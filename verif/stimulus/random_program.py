"""Constrained-random programs: item ``index`` of (seed, profile), independent of all others."""

from __future__ import annotations

from collections.abc import Iterator

from model.chip.isa import EXT_WORDS, SPAD_WORDS, Instruction, encode, st
from verif.items.program_item import ProgramItem
from verif.stimulus.contents import random_words
from verif.stimulus.instructions import random_instruction
from verif.stimulus.operands import Operands
from verif.stimulus.profiles import Profile, profile_named
from verif.stimulus.provoke import boundary_instruction, raw_word
from verif.stimulus.series import again, crowd, marathon
from verif.stimulus.source import Source
from verif.stimulus.surroundings import random_control, random_surroundings

LONGEST_FINAL_STORE = 64


def random_item(seed: int, profile: str, index: int) -> ProgramItem:
    """Program ``index`` of the series that ``seed`` and ``profile`` name.

    An item without a scratchpad image runs on what the programs before it left, back to the last
    one that brought an image, ``series_start(index)`` at the earliest.

    Raises:
        UnknownProfileError: there is no such profile.
    """
    chosen = profile_named(profile)
    source = Source(seed, profile, index)
    program = _program(source, chosen)
    around = random_surroundings(source, chosen.surroundings, program, index)
    depth = EXT_WORDS if source.chance(chosen.all_external) else chosen.depth
    size = chosen.depth if around.keep_scratchpad else chosen.depth + SPAD_WORDS
    contents = random_words(source, size, chosen.content_ladder)
    return ProgramItem(
        name=f"{profile}-{seed}-{index}",
        program=program,
        image=contents[: chosen.depth],
        spad=None if around.keep_scratchpad else contents[chosen.depth :],
        latency=around.latency,
        latencies=around.latencies,
        depth=depth,
        reset_before=around.reset_before,
        start_pulses=around.start_pulses,
        abort_at=around.abort_at,
        provenance=f"random profile={profile} seed={seed} index={index}",
        **random_control(source, chosen.surroundings, around),
    )


def random_items(seed: int, profile: str, count: int, first: int = 0) -> Iterator[ProgramItem]:
    """Programs ``first`` to ``first + count - 1`` of a series."""
    for index in range(first, first + count):
        yield random_item(seed, profile, index)


def _program(source: Source, profile: Profile) -> list[int]:
    """Random instructions, then stores of the last results, then a HALT most of the time."""
    operands = Operands(source, profile)
    program = []
    legal: list[Instruction] = []
    if source.chance(profile.crowd):
        program += _encoded(crowd(operands))
    for _ in range(source.between(*profile.instructions)):
        draw = source.below(100)
        if draw < profile.boundary:
            program.append(encode(boundary_instruction(operands)))
        elif draw < profile.boundary + profile.raw:
            program.append(raw_word(operands))
        elif legal and source.chance(profile.repeats):
            earlier = legal[-1 - source.below(min(3, len(legal)))]
            program += [encode(instruction) for instruction in again(operands, earlier)]
        else:
            legal.append(random_instruction(operands))
            program.append(encode(legal[-1]))
    if source.chance(profile.marathon):
        program += _encoded(marathon(operands))
    program += _final_stores(source, operands, profile.depth)
    if not source.chance(5):
        # Anything may stand in a HALT's other fields and behind it.
        program.append(source.bits(124) if source.chance(20) else 0)
        if source.chance(20):
            program.append(encode(random_instruction(operands)))
    return program


def _encoded(instructions: list[Instruction]) -> list[int]:
    """Encode few different instructions that come often."""
    words = {instruction: encode(instruction) for instruction in set(instructions)}
    return [words[instruction] for instruction in instructions]


def _final_stores(source: Source, operands: Operands, depth: int) -> list[int]:
    """Stores of up to seven late results, side by side in the external memory."""
    stores = []
    results = list(dict.fromkeys(reversed(operands.written)))[: source.between(4, 7)]
    sizes = [min(size, LONGEST_FINAL_STORE) for _, size in results]
    address = source.below(depth - sum(sizes) + 1)
    for (base, _), size in zip(results, sizes, strict=True):
        if base + size <= SPAD_WORDS:
            stores.append(encode(st(base, address, size)))
        address += size
    return stores
