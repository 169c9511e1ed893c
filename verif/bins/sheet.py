"""Bins by number, and the sheet on which many programs at once mark those that they hit.

The functions of this package look at all instructions of many programs in a few operations on
arrays; a name made of text for each instruction would cost more than everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

Hit = tuple[str, str]
"""A coverage point and one of its bins."""

Index = npt.NDArray[np.int64]
Names = str | None | Sequence["Names"]

_HITS: list[Hit] = [("", "")]
_NUMBERS: dict[Hit, int] = {}


def numbers(point: str, names: Names) -> Index:
    """Numbers of bins of ``point``, an array shaped like the nested sequences of their names.

    None stands for no bin, which has the number 0: to mark it marks nothing.
    """
    return np.array(_numbered(point, names), dtype=np.int64)


def _numbered(point: str, names: Names) -> object:
    if names is None:
        return 0
    if not isinstance(names, str):
        return [_numbered(point, each) for each in names]
    hit = (point, names)
    if hit not in _NUMBERS:
        _NUMBERS[hit] = len(_HITS)
        _HITS.append(hit)
    return _NUMBERS[hit]


class Sheet:
    """Which bins each of some programs hits, once each."""

    def __init__(self, programs: int) -> None:
        self._seen = np.zeros((programs, len(_HITS)), dtype=np.bool_)
        self._named: list[set[Hit]] = [set() for _ in range(programs)]

    def mark(self, programs: Index, bins: Index) -> None:
        """Mark bins by number; the two arrays are broadcast against each other."""
        self._seen[programs, bins] = True

    def name(self, program: int, hits: Iterable[Hit]) -> None:
        """Mark bins by name."""
        self._named[program].update(hits)

    def hits(self) -> list[set[Hit]]:
        """The bins of each program."""
        self._seen[:, 0] = False
        return [
            named.union(_HITS[number] for number in seen.nonzero()[0].tolist())
            for seen, named in zip(self._seen, self._named, strict=True)
        ]

    def counts(self) -> dict[Hit, int]:
        """How many of the programs hit each bin that one of them hits."""
        self._seen[:, 0] = False
        total = self._seen.sum(axis=0, dtype=np.int64)
        places = total.nonzero()[0]
        counts = dict(zip([_HITS[n] for n in places.tolist()], total[places].tolist(), strict=True))
        for named in self._named:
            for hit in named:
                counts[hit] = counts.get(hit, 0) + 1
        return counts
