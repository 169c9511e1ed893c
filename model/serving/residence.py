"""Which weights stay in the scratchpad: those that save most cycles beside the largest step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from model.chip.isa import SPAD_WORDS
from model.compiler.allocator import OutOfMemory
from model.compiler.graph import Kind
from model.errors import CompileError
from model.serving.compilation import DENSE, Attend, Dense, KernelCompiler
from model.serving.kernels import AttendShape
from model.serving.layout import Scratchpad


def fitting(
    compiler: KernelCompiler, context: int, widest: AttendShape, latency: int | None
) -> Scratchpad:
    """Lay the scratchpad out with the best weights beside which a step fits.

    context: most rows a query sees, in the ``widest`` shape; latency: of external reads, None to
    keep no weight. Raises CompileError when a step fits beside none.
    """
    model, rows = compiler.model, compiler.external.rows
    bare = Scratchpad(model, context, rows)
    step = _LargestStep(compiler, rows, widest)
    problem: OutOfMemory | None = None
    sets = [()] if latency is None else choices(step.loads, latency, bare.limit - bare.end)
    for resident in sets:
        spad = Scratchpad(model, context, rows, resident)
        problem = step.problem(spad)
        if problem is None:
            return spad
    raise CompileError(
        f"{rows} rows a step beside contexts of {context} rows do not fit the scratchpad "
        f"of {SPAD_WORDS} words: {problem}"
    )


def choices(
    loads: Mapping[str, tuple[int, int]], latency: int, spare: int
) -> list[tuple[str, ...]]:
    """Sets of weights of at most ``spare`` words, what saves most cycles a step first, none last.

    loads: words of each, and how often a step loads it. Among sets that save the same those of most
    weights, and then those of the first ones, come first.
    """
    names = list(loads)
    saved = [times * (words + latency + 3) for words, times in loads.values()]
    found = list(_subsets([words for words, _ in loads.values()], 0, spare))
    found.sort(key=lambda chosen: (-sum(saved[i] for i in chosen), -len(chosen), chosen))
    return [tuple(names[i] for i in chosen) for chosen in found]


def _subsets(words: list[int], first: int, spare: int) -> Iterator[tuple[int, ...]]:
    """Ascending indices from ``first`` on whose words fit together, none of them, too."""
    yield ()
    for index in range(first, len(words)):
        if words[index] <= spare:
            for more in _subsets(words, index + 1, spare - words[index]):
                yield (index, *more)


class _LargestStep:
    """The kernels of a step in which as many requests as there can be decode one token each.

    What is known of a kernel is not tried again: it depends on where temporaries end and which of
    its own weights are resident.
    """

    def __init__(self, compiler: KernelCompiler, rows: int, widest: AttendShape) -> None:
        self._compiler = compiler
        keys: list[Dense | Attend] = []  # what needs most room first
        for what in DENSE:
            keys += [Dense(what, layer, rows) for layer in range(compiler.model.layers)]
        for layer in range(compiler.model.layers):
            keys += [Attend(layer, head, widest) for head in range(compiler.model.heads)]
        self._weights = {
            key: [node.name for node in compiler.graph(key).of_kind(Kind.WEIGHT)] for key in keys
        }
        self._known: dict[tuple[Dense | Attend, int, tuple[str, ...]], OutOfMemory | None] = {}

    @property
    def loads(self) -> dict[str, tuple[int, int]]:
        """Words of each weight, and how often it is loaded unless it is resident."""
        times = Counter(
            name
            for key, weights in self._weights.items()
            for name in weights * (self._compiler.external.rows if isinstance(key, Attend) else 1)
        )
        return {name: (words, times[name]) for name, words in self._compiler.model.words.items()}

    def problem(self, spad: Scratchpad) -> OutOfMemory | None:
        """Return why the first kernel that does not fit does not."""
        limit = spad.limit
        for key, weights in self._weights.items():
            case = (key, limit, tuple(name for name in spad.resident if name in weights))
            if case not in self._known:
                self._known[case] = self._tried(key, spad)
            if self._known[case]:
                return self._known[case]
        return None

    def _tried(self, key: Dense | Attend, spad: Scratchpad) -> OutOfMemory | None:
        try:
            self._compiler.compile(key, spad)
        except OutOfMemory as error:
            return error
        return None
