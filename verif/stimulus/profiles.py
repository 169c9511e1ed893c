"""Profiles of random programs: what is drawn how often."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from model.chip.operation_table import EXECUTED, Op

Weights = tuple[tuple[int, int], ...]


def ladder(table: Weights) -> tuple[int, ...]:
    """Each value as often as its weight says: one pick of it costs less than to add weights up."""
    return tuple(value for weight, value in table for _ in range(weight))


EVEN_OPS: Weights = tuple((row.weight, row.op) for row in EXECUTED)


@dataclass(frozen=True)
class SurroundingsOdds:
    """How often, in percent, the surroundings of a program differ from the plain case."""

    random_latency: int = 30
    corner_latency: int = 10
    varying_latency: int = 5
    reset_before: int = 25
    start_pulses: int = 15
    restart: int = 6
    abort: int = 10
    keep_scratchpad: int = 40


@dataclass(frozen=True)
class Profile:
    """One mix of random programs.

    Attributes:
        name: as given on the command line.
        about: one line for listings.
        instructions: least and most instructions before the final stores.
        ops: (weight, op) pairs.
        lengths: (weight, longest) pairs: a vector's length is uniform in 1..longest.
        corners: percent of operand choices (base, length, stride, scale) taken from corner values.
        powers: percent of them at a power of two, or one beside it.
        repeats: percent of instructions that come again after a write into what they read.
        continues: percent of instructions that write on where an earlier one's results end.
        crowd: percent of programs that begin with up to 1,024 cheap instructions.
        marathon: percent of programs that drive a counter of cycles to 2**13 up to 2**17.
        all_external: percent of programs with the whole external memory behind their image.
        inner: (weight, longest K) pairs of MM.
        contents: (weight, index into contents.KINDS) pairs.
        depth: external memory in words.
        boundary: percent of instructions drawn around the limits of the fault rules.
        raw: percent of instructions that are arbitrary words, or legal ones with bits flipped.
        surroundings: latency, resets, start pulses.
    """

    name: str
    about: str
    instructions: tuple[int, int] = (7, 16)
    ops: Weights = EVEN_OPS
    lengths: Weights = ((6, 8), (3, 16), (1, 32))
    corners: int = 10
    powers: int = 12
    repeats: int = 6
    continues: int = 5
    crowd: int = 2
    marathon: int = 0
    all_external: int = 3
    inner: Weights = ((6, 6), (3, 16), (1, 32))
    contents: Weights = ((2, 0), (5, 1), (2, 2), (2, 3), (3, 4), (1, 5), (1, 6), (1, 7))
    depth: int = 1024
    boundary: int = 0
    raw: int = 0
    surroundings: SurroundingsOdds = field(default_factory=SurroundingsOdds)

    @cached_property
    def op_ladder(self) -> tuple[int, ...]:
        """Operations to pick from."""
        return ladder(self.ops)

    @cached_property
    def length_ladder(self) -> tuple[int, ...]:
        """Longest lengths to pick from."""
        return ladder(self.lengths)

    @cached_property
    def inner_ladder(self) -> tuple[int, ...]:
        """Longest K to pick from."""
        return ladder(self.inner)

    @cached_property
    def content_ladder(self) -> tuple[int, ...]:
        """Kinds of memory contents to pick from."""
        return ladder(self.contents)


ALL = "all"  # every profile
PROFILES: dict[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("typical", "short programs whose operations feed each other"),
        Profile(
            "corner",
            "operands, lengths, strides, shifts and data at their corner values",
            lengths=((8, 4), (3, 20), (1, 70)),
            corners=70,
            inner=((3, 3), (1, 64)),
            contents=((1, 0), (1, 1), (4, 2), (2, 3), (1, 4), (4, 5), (2, 6), (4, 7), (1, 8)),
            surroundings=SurroundingsOdds(corner_latency=40, varying_latency=15, abort=18),
        ),
        Profile(
            "long",
            "few instructions on vectors of hundreds to 4,095 words",
            instructions=(3, 6),
            lengths=((1, 255), (3, 900), (1, 4095)),
            corners=10,
            crowd=0,
            marathon=3,
            inner=((1, 64),),
            depth=4096,
            surroundings=SurroundingsOdds(start_pulses=10, abort=8),
        ),
        Profile(
            "matrix",
            "mostly matrix products, of every shape, stride and depth",
            ops=((4, Op.LD), (2, Op.ST), (24, Op.MM), (6, Op.RQ), (1, Op.SM), (1, Op.VADD)),
            corners=30,
            inner=((3, 8), (3, 24), (3, 64)),
            contents=((2, 0), (4, 1), (4, 2), (1, 3), (1, 5), (1, 6), (3, 7), (1, 8)),
        ),
        Profile(
            "faults",
            "instructions on both sides of every limit of the fault rules",
            instructions=(4, 12),
            corners=25,
            boundary=30,
            surroundings=SurroundingsOdds(keep_scratchpad=60, abort=3),
        ),
        Profile(
            "raw",
            "arbitrary 128-bit words, and legal instructions with bits flipped",
            instructions=(3, 8),
            corners=25,
            raw=70,
            surroundings=SurroundingsOdds(keep_scratchpad=60, abort=3),
        ),
    )
}


class UnknownProfileError(ValueError):
    """A profile name that does not exist."""


def profile_named(name: str) -> Profile:
    """The profile called ``name``.

    Raises:
        UnknownProfileError: there is none; the message lists those that exist.
    """
    try:
        return PROFILES[name]
    except KeyError:
        raise UnknownProfileError(
            f"no random profile {name!r}; there are {', '.join(PROFILES)}"
        ) from None
