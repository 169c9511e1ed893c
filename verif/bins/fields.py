"""Bins that depend on an instruction's fields alone: lengths, regions, overlap, shapes, strides."""

from __future__ import annotations

import numpy as np

from model.chip.isa import EXT_WORDS, FIELDS, SPAD_WORDS, Op
from model.chip.operation_table import MAX_K, MAX_TILE, OPERATIONS, Operation
from verif.bins.rows import EXTERNAL, OPERANDS, Rows
from verif.bins.sheet import Index, Sheet, numbers

_NAMES = [row.name for row in OPERATIONS.values()]
_VECTOR = [row.name if row.length else None for row in OPERATIONS.values()]
_LENGTHS = ("one", "two", "maximum", "short", "medium", "long")
_INSIDE = ("first_word", "last_word", "inside")
_OUTSIDE = (*_INSIDE, "beyond_depth", "across_depth")


def _products(names: list[str | None], parts: tuple[str, ...]) -> list[list[str | None]]:
    return [[name and f"{name}/{part}" for part in parts] for name in names]


OPERATION = numbers("operation", _NAMES)
IGNORED_FIELDS = numbers("ignored_fields", _NAMES)
LENGTH = numbers("length", _products(_VECTOR, _LENGTHS))
_spad = [None if ext else name for name, ext in zip(OPERANDS, EXTERNAL, strict=True)]
_ext = [
    name.split(".")[0] if name and ext else None
    for name, ext in zip(OPERANDS, EXTERNAL, strict=True)
]
SPAD_REGION = numbers("spad_region", _products([*_spad, None], _INSIDE))
EXT_REGION = numbers("ext_region", _products([*_ext, None], _OUTSIDE))


def _ignored(row: Operation) -> list[int]:
    """Bits of the word that an operation ignores, low half first."""
    word = 0
    for field, (low, width) in FIELDS.items():
        if field != "op":
            word |= (~row.named_bits.get(field, 0) & (1 << width) - 1) << low
    return [word & (1 << 64) - 1, word >> 64]


_IGNORED = np.array([_ignored(row) for row in OPERATIONS.values()], dtype=np.uint64)
_LONGEST = np.array([row.longest_that_fits for row in OPERATIONS.values()])


def field_hits(sheet: Sheet, i: Rows) -> None:
    """Mark the bins of instructions that complete, and of HALTs."""
    sheet.mark(i.program, OPERATION[i.op])
    ignored = (i.words & _IGNORED[i.op]).any(axis=1)
    sheet.mark(i.program, IGNORED_FIELDS[i.op] * ignored)
    n = i.length
    classes = np.where(n <= 8, 3, np.where(n <= 255, 4, 5))
    classes = np.where(n <= 2, n - 1, np.where(n == _LONGEST[i.op], 2, classes))
    sheet.mark(i.program, LENGTH[i.op, classes])
    _regions(sheet, i)
    _relations(sheet, i)
    scaled = i.take(i.places(Op.RQ))
    sheet.mark(scaled.program, RQ_SHIFT[scaled.e])
    small = np.where(scaled.d >> 23, _NORMAL, _SMALL)
    exact = np.searchsorted(_EXACT, scaled.d).clip(max=len(_EXACT) - 1)
    named = np.where(_EXACT[exact] == scaled.d, exact, small)
    sheet.mark(scaled.program, RQ_MANTISSA[named])
    if len(i.matrices):
        _matrices(sheet, i.take(i.matrices))
        _matrix_overlap(sheet, i)


RQ_SHIFT = numbers("rq_shift", [str(shift) for shift in range(64)])
_EXACT = np.array([0, 1, 1 << 23, (1 << 24) - 1])
RQ_MANTISSA = numbers("rq_mantissa", ["zero", "one", "lowest_normal", "largest", "normal", "small"])
_NORMAL, _SMALL = 4, 5


def _regions(sheet: Sheet, i: Rows) -> None:
    base, end = i.base, i.end
    first = base == 0
    inside = SPAD_REGION[i.operand]
    sheet.mark(i.program, inside[..., 0] * first)
    sheet.mark(i.program, inside[..., 1] * (end == SPAD_WORDS))
    sheet.mark(i.program, inside[..., 2] * (~first & (end < SPAD_WORDS)))
    outside = EXT_REGION[i.operand]
    beyond = base >= i.depth
    across = ~beyond & (end > i.depth)
    sheet.mark(i.program, outside[..., 0] * first)
    sheet.mark(i.program, outside[..., 1] * (end == EXT_WORDS))
    sheet.mark(i.program, outside[..., 2] * (~beyond & ~across & ~first))
    sheet.mark(i.program, outside[..., 3] * beyond)
    sheet.mark(i.program, outside[..., 4] * across)


_FREE = ("on_first_word", "on_middle_word", "on_last_word", "outside")
_TWO = ("disjoint", "adjacent", "on_src1", "on_src2", "on_both")
_BETWEEN = ("sources_same", "sources_shifted", "sources_apart")
_ONE = ("in_place", "right_before", "right_behind", "disjoint")


def _overlap(parts: tuple[str, ...], *ops: Op) -> Index:
    """Bins of how regions of these operations lie to each other, (operations, parts)."""
    return numbers(
        "overlap", _products([name if op in ops else None for op, name in enumerate(_NAMES)], parts)
    )


_related = [r for r in OPERATIONS.values() if r.destination and r.sources and r.op != Op.MM]
_free = [row.op for row in _related if row.overlap == "free"]
_two = [row.op for row in _related if row.overlap != "free" and len(row.sources) == 2]
_one = [row.op for row in _related if row.overlap != "free" and len(row.sources) == 1]
OVERLAP_FREE, OVERLAP_ONE = _overlap(_FREE, *_free), _overlap(_ONE, *_one)
OVERLAP_TWO, OVERLAP_SOURCES = _overlap(_TWO, *_two), _overlap(_BETWEEN, *_two)
_EXPANSION = np.array([row.expansion for row in OPERATIONS.values()])


def _relations(sheet: Sheet, rows: Rows) -> None:
    """How destination and sources lie to each other."""
    i = rows.take(rows.places(*_free))
    offset, n = i.a - i.b, i.length
    where = np.where(offset == 0, 0, np.where(offset == n - 1, 2, 1))
    where[(offset < 0) | (offset >= n)] = 3
    sheet.mark(i.program, OVERLAP_FREE[i.op, where])

    i = rows.take(rows.places(*_two))
    n = i.length
    adjacent = (abs(i.a - i.b) == n) | (abs(i.a - i.c) == n)
    on = 2 * (i.a == i.b) + 4 * (i.a == i.c)
    sheet.mark(i.program, OVERLAP_TWO[i.op, np.where(on, (on + 2) // 2, adjacent)])
    distance = abs(i.b - i.c)
    sheet.mark(i.program, OVERLAP_SOURCES[i.op, np.where(distance == 0, 0, 1 + (distance >= n))])

    i = rows.take(rows.places(*_one))
    n = i.length
    where = np.where(i.b + n == i.a, 2, 3)
    where[i.a + _EXPANSION[i.op] * n == i.b] = 1
    where[i.a == i.b] = 0
    sheet.mark(i.program, OVERLAP_ONE[i.op, where])


_INNER = [str(k) if k <= 4 or k >= 63 else "5-31" if k <= 31 else "32-62" for k in range(MAX_K + 1)]
_STRIDES = ("zero", "maximum", "dense", "below_dense", "above_dense", "huge")
_SPANS = ("A", "B", "C")
MM_TILE = numbers(
    "mm_tile", [[f"{m}x{n}" for n in range(MAX_TILE + 1)] for m in range(MAX_TILE + 1)]
)
MM_INNER = numbers("mm_inner", _INNER)
MM_TRANSPOSED = numbers("mm_transposed", ["0", "1"])
MM_STRIDE = numbers("mm_stride", _products(["lda", "ldb", "ldb_transposed", "ldc"], _STRIDES))
MM_WRAP = numbers("mm_wrap", ["A", "B", "C", "none"])


def _stride_class(stride: Index, dense: Index) -> Index:
    """Class of strides whose rows lie side by side at ``dense``."""
    classes = np.where(stride < dense, 3, np.where(stride < 2048, 4, 5))
    classes[stride == dense] = 2
    classes[stride == 4095] = 1
    classes[stride == 0] = 0
    return classes


def _matrices(sheet: Sheet, i: Rows) -> None:
    m, k, n, transposed = i.f, i.g, i.h, i.fl & 1
    lda, ldb, ldc = i.d & 0xFFF, i.d >> 12, i.x & 0xFFF
    sheet.mark(i.program, MM_TILE[m, n])
    sheet.mark(i.program, MM_INNER[k])
    sheet.mark(i.program, MM_TRANSPOSED[transposed])
    b_rows, b_row = np.where(transposed, (n, k), (k, n))
    sheet.mark(i.program, MM_STRIDE[0, _stride_class(lda, k)])
    sheet.mark(i.program, MM_STRIDE[1 + transposed, _stride_class(ldb, b_row)])
    sheet.mark(i.program, MM_STRIDE[3, _stride_class(ldc, n)])
    ends = np.array(
        (i.b + (m - 1) * lda + k, i.c + (b_rows - 1) * ldb + b_row, i.a + (m - 1) * ldc + n)
    )
    wrapped = ends > SPAD_WORDS
    sheet.mark(i.program, MM_WRAP[:3, None] * wrapped)
    sheet.mark(i.program, MM_WRAP[3] * ~wrapped.any(axis=0))


MM_OVERLAP = numbers("overlap", [f"MM/{name}" for name in ("disjoint", "on_A", "on_B", "on_both")])
MM_ITSELF = numbers("overlap", "MM/result_on_itself")


def _matrix_overlap(sheet: Sheet, i: Rows) -> None:
    """Where results of matrix products lie."""
    program, p = i.program[i.matrices], i.products
    count = len(program)
    made = np.where(p.in_c, p.c, -1).reshape(count, -1)
    read_a = np.where(p.in_a, p.a, -2).reshape(count, 1, -1)
    read_b = np.where(p.in_b, p.b, -2).reshape(count, 1, -1)
    on_a = (made[:, :, None] == read_a).any(axis=(1, 2))
    on_b = (made[:, :, None] == read_b).any(axis=(1, 2))
    sheet.mark(program, MM_OVERLAP[on_a + 2 * on_b])
    made.sort(axis=1)
    twice = ((made[:, 1:] == made[:, :-1]) & (made[:, 1:] >= 0)).any(axis=1)
    sheet.mark(program, MM_ITSELF * twice)
