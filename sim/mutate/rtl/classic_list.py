"""Data of the named faults; :mod:`sim.mutate.rtl.classics` makes mutants of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patch:
    """``old`` becomes ``new`` in ``file``, where it stands in the unique text ``near``."""

    file: str
    old: str
    new: str
    near: str = ""


@dataclass(frozen=True)
class Classic:
    """A named fault: all its patches together."""

    name: str
    about: str
    patches: tuple[Patch, ...]


TOP, SEQ, COUNT = "ga2.sv", "ga2_sequencer.sv", "ga2_counters.sv"
MATMUL, SOFTMAX, AMAX, VADD = "ga2_matmul.sv", "ga2_softmax.sv", "ga2_amax.sv", "ga2_vadd.sv"
RQ, ARITH, UNPACK = "ga2_requant.sv", "ga2_requantizer.sv", "ga2_unpack.sv"
STORE, LOAD, MAC_ROW = "ga2_store.sv", "ga2_load.sv", "ga2_mac_row.sv"


def _one(name: str, about: str, file: str, old: str, new: str, near: str = "") -> Classic:
    return Classic(name, about, (Patch(file, old, new, near),))


def _unit(unit: str, *ports: str) -> str:
    """Text of a unit's instance in the top module, from its start port to the last of ``ports``."""
    return ",\n      ".join([f".start(issue_start && is_{unit})", *ports])


_LENGTHS = {
    "ld": _unit("ld", ".dst(a[11:0])", ".src(b)", ".len(c[11:0])"),
    "st": _unit("st", ".src(a[11:0])", ".dst(b)", ".len(c[11:0])"),
    "rq": _unit("rq", ".dst(a[11:0])", ".src(b[11:0])", ".len(c[11:0])"),
    "sm": _unit("sm", ".dst(a[11:0])", ".src(b[11:0])", ".len(c[11:0])"),
    "amax": _unit("amax", ".dst(a[11:0])", ".src(b[11:0])", ".len(c[11:0])"),
}

_COUNTING = (
    _one("pc-off", "the pc advances by two", SEQ, "pc_q + 16'd1", "pc_q + 16'd2"),
    _one(
        "total-off", "cyc_total starts at one", COUNT, "'0", "32'd1", "cyc_total <= '0"
    ),
    _one(
        "n-inst-off", "n_inst counts by two", COUNT, "n_inst + 32'd1", "n_inst + 32'd2"
    ),
    _one("mm-in-vec", "MM counted in cyc_vec", TOP, "is_mm", "1'b0", "(is_mm),\n      .is_dma"),
    _one("rq-in-mm", "RQ counted in cyc_mm", TOP, "is_mm", "is_mm || is_rq",
         "(is_mm),\n      .is_dma"),
    _one("st-in-vec", "ST counted in cyc_vec", TOP, "is_ld || is_st", "is_ld"),
    _one("amax-in-dma", "AMAX counted in cyc_dma", TOP, "is_ld || is_st",
         "is_ld || is_st || is_amax"),
    _one("fetch-not-counted", "the FETCH cycle is not counted", SEQ,
         "state_q == StFetch || issue || waiting", "issue || waiting"),
)  # fmt: skip

_WIRING = (
    Classic("read-ports-swapped", "read addresses of SM and VADD swapped", (
        Patch(TOP, "sm_raddr", "vadd_raddr", "is_sm ? sm_raddr"),
        Patch(TOP, "vadd_raddr", "sm_raddr", "is_vadd ? vadd_raddr"),
    )),
    Classic("write-ports-swapped", "write ports of RQ and AMAX swapped", (
        Patch(TOP, "rq_waddr", "amax_waddr", "is_rq ? rq_waddr"),
        Patch(TOP, "amax_waddr", "rq_waddr", "is_amax ? amax_waddr"),
        Patch(TOP, "rq_wdata", "amax_wdata", "is_rq ? rq_wdata"),
        Patch(TOP, "amax_wdata", "rq_wdata", "is_amax ? amax_wdata"),
    )),
    Classic("starts-swapped", "start signals of RQ and SM swapped", (
        Patch(TOP, "issue_start && is_rq", "issue_start && is_sm"),
        Patch(TOP, "issue_start && is_sm", "issue_start && is_rq"),
    )),
    *(
        _one(f"length-8-bits-{unit}", f"length of {unit.upper()} cut to 8 bits", TOP,
             "c[11:0]", "{4'd0, c[7:0]}", near)
        for unit, near in _LENGTHS.items()
    ),
    _one("length-8-bits-vadd", "length of VADD cut to 8 bits", TOP, "d[11:0]", "{4'd0, d[7:0]}",
         ".len(d[11:0])"),
    _one("length-8-bits-unpack", "length of UNPACK cut to 8 bits", TOP, "c[8:0]", "{1'b0, c[7:0]}"),
    _one("relu-bit-off", "relu taken from the next bit", TOP, "fl[0]", "fl[1]", ".relu(fl[0])"),
    _one("shift-low", "the shift field one bit low", TOP, "instr[ga2_pkg::FieldE+:6]",
         "instr[ga2_pkg::FieldE-1+:6]"),
    _one("shift-high", "the shift field one bit high", TOP, "instr[ga2_pkg::FieldE+:6]",
         "instr[ga2_pkg::FieldE+1+:6]"),
    _one("mantissa-top-bit", "top bit of the mantissa lost", TOP, "d", "{1'b0, d[22:0]}",
         "(d),\n      .s(e)"),
    _one("k-cut", "K cut to 6 bits: 64 becomes 0", TOP, "g[6:0]", "{1'b0, g[5:0]}", ".k(g[6:0])"),
    _one("m-cut", "M cut to 2 bits: 4 becomes 0", TOP, "f[2:0]", "{1'b0, f[1:0]}", ".m(f[2:0])"),
    _one("n-cut", "N cut to 2 bits: 4 becomes 0", TOP, "h[2:0]", "{1'b0, h[1:0]}", ".n(h[2:0])"),
    _one("transposition-ignored", "tb ignored", TOP, "fl[0]", "1'b0", ".tb(fl[0])"),
)  # fmt: skip

_ADDRESSES = (
    *(
        _one(f"write-follows-read-{name}", f"{name.upper()} writes where it reads", file, old, new)
        for name, file, old, new in (
            ("rq", RQ, "waddr_q + 12'd1", "raddr_q"),
            ("sm", SOFTMAX, "waddr_q + 12'd1", "raddr_q"),
            ("vadd", VADD, "waddr_q + 12'd1", "raddr_q"),
            ("unpack", UNPACK, "waddr_q + 12'd1", "raddr_q"),
            ("st", STORE, "wr_addr_q + 16'd1", "{4'd0, raddr_q}"),
        )
    ),
    _one("stale-response", "a response in flight at a reset is taken", LOAD,
         "resp_valid && resp_left_q != req_left_q", "resp_valid"),
    _one("stride-a", "lda replaced by K", MATMUL, "lda", "12'(k)", "in_load_a ? lda"),
    _one("stride-b", "ldb replaced by N", MATMUL, "ldb", "12'(n)", "in_load_b && !tb ? ldb"),
    _one("stride-b-transposed", "ldb replaced by K when transposed", MATMUL, "ldb", "12'(k)",
         ": tb ? ldb"),
    _one("stride-c", "ldc replaced by N", MATMUL, "ldc", "12'(n)", "in_write ? ldc"),
)  # fmt: skip

_ARITHMETIC = (
    _one("sign-lost-rq", "RQ writes without sign extension", RQ, "32'($signed(q))", "32'(q)"),
    _one("sign-lost-vadd", "VADD writes without sign extension", VADD, "32'(clamped)",
         "{24'd0, clamped}"),
    _one("sign-lost-unpack", "UNPACK writes without sign extension", UNPACK,
         "32'($signed(word_q[3:0]))", "32'(word_q[3:0])"),
    _one("rq-clamp-128", "RQ clamps at -128", ARITH, "-clamped",
         "rounded > 57'd127 ? 8'h80 : -clamped"),
    _one("vadd-clamp-128", "VADD clamps at -128", VADD, "sum_q < -9'sd127", "sum_q < -9'sd128"),
    _one("rq-no-clamp", "RQ does not clamp", ARITH, "rounded > 57'd127", "1'b0"),
    Classic("vadd-no-clamp", "VADD does not clamp", (
        Patch(VADD, "sum_q > 9'sd127", "1'b0"), Patch(VADD, "sum_q < -9'sd127", "1'b0"),
    )),
    _one("rq-no-rounding", "RQ truncates", ARITH, "57'd1", "57'd0", "+ 57'd1"),
    _one("last-maximum", "AMAX finds the last maximum", AMAX, "$signed(rdata) > best_q",
         "$signed(rdata) >= best_q"),
    _one("amax-unsigned", "AMAX compares without sign", AMAX, "$signed(rdata) > best_q",
         "rdata > $unsigned(best_q)"),
    _one("amax-value", "AMAX writes the value instead of the index", AMAX, "{20'd0, best_index_q}",
         "$unsigned(best_q)"),
)  # fmt: skip

_SOFTMAX = (
    _one("sm-maximum-from-zero", "SM's maximum starts at 0", SOFTMAX, "-8'sd128", "8'sd0"),
    _one("sm-unsigned", "SM compares without sign", SOFTMAX, "$signed(rdata) > max_q",
         "rdata > $unsigned(max_q)"),
    _one("sm-sum-not-cleared", "SM's sum is not cleared", SOFTMAX, "sum_q <= '0;", ";",
         "max_q <= -8'sd128;\n        sum_q <= '0;"),
    _one("sm-no-rounding", "SM truncates its product", SOFTMAX, "39'h20_0000", "39'h0"),
    _one("sm-reciprocal-37", "SM's reciprocal is of 2**37", SOFTMAX, "40'h40_0000_0000",
         "40'h20_0000_0000"),
    _one("sm-slice-low", "SM's output slice is one bit low", SOFTMAX, "22", "21", ">> 22"),
    _one("sm-third-pass-destination", "SM's third pass reads the destination", SOFTMAX,
         "last_read ? src : raddr_q + 12'd1",
         "last_read ? (state_q == StSum ? dst : src) : raddr_q + 12'd1"),
    _one("sm-third-pass-goes-on", "SM's third pass reads on behind the source", SOFTMAX,
         "last_read ? src : raddr_q + 12'd1",
         "last_read && state_q != StSum ? src : raddr_q + 12'd1"),
)  # fmt: skip

_MATRIX = (
    _one("stream-short", "the stream is a cycle short", MATMUL, "7'd2", "7'd3", "- 7'd2"),
    _one("stream-long", "the stream is a cycle long", MATMUL, "7'd2", "7'd1", "- 7'd2"),
    _one("array-not-cleared", "the array is not cleared", MAC_ROW, "first", "1'b0", "if (first)"),
    Classic("result-transposed", "the result is read column by column", (
        Patch(MATMUL, "outer_q", "inner_q[1:0]", ".read_row(outer_q)"),
        Patch(MATMUL, "inner_q[1:0]", "outer_q", ".read_col(inner_q[1:0])"),
    )),
    Classic("operand-memories-swapped", "A goes into B's memory and B into A's", (
        Patch(MATMUL, "to_a_q", "to_b_q", ".we(to_a_q)"),
        Patch(MATMUL, "to_b_q", "to_a_q", ".we(to_b_q)"),
    )),
    Classic("operands-reversed", "both operand memories are read backwards", (
        Patch(MATMUL, "t_q[5:0]", "6'(k) - t_q[5:0]", ".raddr(t_q[5:0]),\n      .rdata(a_in)"),
        Patch(MATMUL, "t_q[5:0]", "6'(k) - t_q[5:0]", ".raddr(t_q[5:0]),\n      .rdata(b_in)"),
    )),
    Classic("operands-late", "operands are fed a cycle late", (
        Patch(MATMUL, "t_q[5:0]", "t_q[5:0] - 6'd1", ".raddr(t_q[5:0]),\n      .rdata(a_in)"),
        Patch(MATMUL, "t_q[5:0]", "t_q[5:0] - 6'd1", ".raddr(t_q[5:0]),\n      .rdata(b_in)"),
    )),
)  # fmt: skip

CLASSICS: tuple[Classic, ...] = (
    *_COUNTING, *_WIRING, *_ADDRESSES, *_ARITHMETIC, *_SOFTMAX, *_MATRIX,
)  # fmt: skip
"""All named faults."""
