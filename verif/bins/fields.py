"""Bins that depend on an instruction's fields alone: lengths, regions, overlap, shapes, strides."""

from __future__ import annotations

from collections.abc import Iterator

from model.chip.isa import EXT_WORDS, FIELDS, SPAD_WORDS, Instruction, Op
from model.chip.operation_table import OPERATIONS, Operation
from model.chip.operations import matrix_addresses

Hit = tuple[str, str]
"""A coverage point and one of its bins."""

_IGNORED_BITS = [
    tuple(~row.named_bits.get(field, 0) for field in FIELDS if field != "op")
    for row in OPERATIONS.values()
]


def field_hits(i: Instruction, depth: int) -> Iterator[Hit]:
    """Bins of an instruction that completes, or of a HALT, under a memory of ``depth`` words."""
    name = OPERATIONS[i.op].name
    yield "operation", name
    if _ignored_set(i):
        yield "ignored_fields", name
    if i.op == Op.HALT:
        return
    if i.op == Op.MM:
        yield from _matrix_hits(i)
        return
    yield "length", f"{name}/{length_class(i)}"
    n = i.length
    row = OPERATIONS[i.op]
    for operand in row.regions:
        base = getattr(i, operand.field)
        if operand.memory == "spad":
            yield from _region(name, operand.name, base, operand.size(n))
        else:
            for place in _external_classes(base, n, depth):
                yield "ext_region", f"{name}/{place}"
    for relation in _relations(i, row, n):
        yield "overlap", f"{name}/{relation}"
    if i.op == Op.RQ:
        yield "rq_shift", str(i.e)
        yield "rq_mantissa", _mantissa_class(i.d)


def _ignored_set(i: Instruction) -> bool:
    a, b, c, d, e, f, g, h, fl, x = _IGNORED_BITS[i.op]
    return bool(
        (i.a & a | i.b & b | i.c & c | i.d & d | i.e & e)
        or (i.f & f | i.g & g | i.h & h | i.fl & fl | i.x & x)
    )


def length_class(i: Instruction) -> str:
    """Class of a legal instruction's length."""
    n = i.length
    if n <= 2:
        return ("one", "two")[n - 1]
    if n == OPERATIONS[i.op].longest_that_fits:
        return "maximum"
    return "short" if n <= 8 else "medium" if n <= 255 else "long"


def _region(name: str, operand: str, base: int, size: int) -> Iterator[Hit]:
    if base == 0:
        yield "spad_region", f"{name}.{operand}/first_word"
    if base + size == SPAD_WORDS:
        yield "spad_region", f"{name}.{operand}/last_word"
    if base and base + size < SPAD_WORDS:
        yield "spad_region", f"{name}.{operand}/inside"


def _external_classes(base: int, size: int, depth: int) -> Iterator[str]:
    if base == 0:
        yield "first_word"
    if base + size == EXT_WORDS:
        yield "last_word"
    if base >= depth:
        yield "beyond_depth"
    elif base + size > depth:
        yield "across_depth"
    elif base:
        yield "inside"


def _relations(i: Instruction, row: Operation, n: int) -> Iterator[str]:
    """How destination and sources lie to each other."""
    if row.destination is None or not row.sources:
        return
    if row.overlap == "free":
        offset = i.a - i.b
        inside = 0 <= offset < n
        where = "first" if offset == 0 else "last" if offset == n - 1 else "middle"
        yield f"on_{where}_word" if inside else "outside"
    elif len(row.sources) == 2:
        on_first, on_second = i.a == i.b, i.a == i.c
        if on_first or on_second:
            yield "on_both" if on_first and on_second else "on_src1" if on_first else "on_src2"
        else:
            adjacent = abs(i.a - i.b) == n or abs(i.a - i.c) == n
            yield "adjacent" if adjacent else "disjoint"
        distance = abs(i.b - i.c)
        yield "sources_" + ("same" if distance == 0 else "shifted" if distance < n else "apart")
    else:
        written = row.expansion * n
        if i.a == i.b:
            yield "in_place"
        elif i.a + written == i.b:
            yield "right_before"
        elif i.b + n == i.a:
            yield "right_behind"
        else:
            yield "disjoint"


def _mantissa_class(m: int) -> str:
    exact = {0: "zero", 1: "one", 1 << 23: "lowest_normal", (1 << 24) - 1: "largest"}
    return exact.get(m) or ("normal" if m >> 23 else "small")


def _matrix_hits(i: Instruction) -> Iterator[Hit]:
    m, k, n = i.f, i.g, i.h
    yield "mm_tile", f"{m}x{n}"
    yield "mm_inner", inner_class(k)
    yield "mm_transposed", str(i.tb)
    yield "mm_stride", f"lda/{stride_class(i.lda, k)}"
    if i.tb:
        yield "mm_stride", f"ldb_transposed/{stride_class(i.ldb, k)}"
    else:
        yield "mm_stride", f"ldb/{stride_class(i.ldb, n)}"
    yield "mm_stride", f"ldc/{stride_class(i.ldc, n)}"
    for operand, base in (("dst", i.a), ("A", i.b), ("B", i.c)):
        place = {0: "first_word", SPAD_WORDS - 1: "last_word"}.get(base, "inside")
        yield "spad_region", f"MM.{operand}/{place}"
    b_rows, b_row = (n, k) if i.tb else (k, n)
    spans = {
        "A": i.b + (m - 1) * i.lda + k,
        "B": i.c + (b_rows - 1) * i.ldb + b_row,
        "C": i.a + (m - 1) * i.ldc + n,
    }
    wrapped = [operand for operand, end in spans.items() if end > SPAD_WORDS]
    for operand in wrapped or ["none"]:
        yield "mm_wrap", operand
    where = matrix_addresses(i)
    result = set(where.c.tolist())
    on_a = not result.isdisjoint(where.a.ravel().tolist())
    on_b = not result.isdisjoint(where.b.ravel().tolist())
    relation = "on_both" if on_a and on_b else "on_A" if on_a else "on_B" if on_b else "disjoint"
    yield "overlap", f"MM/{relation}"
    if len(result) < m * n:
        yield "overlap", "MM/result_on_itself"


def inner_class(k: int) -> str:
    """Class of K in 1..64."""
    if k <= 4 or k >= 63:
        return str(k)
    return "5-31" if k <= 31 else "32-62"


def stride_class(stride: int, dense: int) -> str:
    """Class of a stride whose rows lie side by side at ``dense``."""
    if stride in (0, 4095):
        return "zero" if stride == 0 else "maximum"
    if stride == dense:
        return "dense"
    if stride < dense:
        return "below_dense"
    return "above_dense" if stride < 2048 else "huge"
