"""The equivalence chain proves what is equal, and never what is not."""

from __future__ import annotations

import pytest
from mutation_samples import COUNTER, FILE, TEXTS, with_change

from sim.engine.design import own_design
from sim.mutate.rtl.engines import BOUND
from sim.mutate.rtl.equivalence import Prover, constant_zero
from sim.mutate.rtl.hierarchy import Hierarchy
from sim.mutate.rtl.source import read_sources
from sim.mutate.rtl.yosys import portable
from sim.shared.patch import patch

BLOCK = """\
module block (input wire clk, input wire rst, input wire start, input wire [3:0] d,
              output reg we_q, output reg [3:0] wdata_q, output wire flag);
  reg [3:0] left_q;
  assign flag = left_q == 4'd0 && we_q;
  always @(posedge clk) begin
    if (rst) begin
      we_q <= 1'b0;
      left_q <= 4'd0;
      wdata_q <= 4'd0;
    end else if (start) begin
      we_q <= 1'b1;
      left_q <= d;
      wdata_q <= d;
    end else if (we_q) begin
      left_q <= left_q - 4'd1;
      wdata_q <= wdata_q + 4'd1;
      if (left_q == 4'd1) we_q <= 1'b0;
    end
  end
endmodule
"""


def prove(text: str, old: str, new: str, limit: float = 4.0):
    return Prover({"block.sv": text}, limit=limit).prove({"block.sv": patch(text, old, new)})


def test_rewritten_logic_is_equal():
    changed = with_change("count == limit - 8'd1", "count + 8'd1 == limit")
    proof, tried = Prover(TEXTS).prove(changed)
    assert proof is not None, tried
    assert proof.engine.startswith("equiv_induct")
    assert proof.scope == "sample_counter"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("count == limit - 8'd1", "count == limit"),
        ("      count <= '0;\n", ""),  # count is a pin: what it powers up to is seen
        ("$signed(x) * $signed(limit)", "$unsigned(x) * $signed(limit)"),
        ("default: state_q", "StEnd: state_q"),  # a state that power-up may give... never left
    ],
)
def test_different_logic_is_not_proven(old, new):
    if old.startswith("default"):
        new = "default: if (x == 8'd77) state_q"
    proof, tried = Prover(TEXTS, limit=10.0).prove(with_change(old, new))
    assert proof is None
    assert tried == [f"sample_counter: sat: a difference exists within {BOUND} cycles"]


def test_a_register_that_only_counts_while_busy_needs_no_reset():
    proof, tried = prove(BLOCK, "      left_q <= 4'd0;\n", "")
    assert proof is not None, tried
    assert "abc" in proof.engine
    assert "rst is high in the first cycle, then free, like every other input" in proof.assumptions


def test_data_counts_only_while_its_valid_is_high():
    proof, _ = prove(BLOCK, "      wdata_q <= 4'd0;\n", "")
    assert proof is not None
    assert "wdata_q counts while we_q is high" in proof.assumptions


def test_a_valid_needs_its_reset():
    proof, _ = prove(BLOCK, "      we_q <= 1'b0;\n      left_q", "      left_q")
    assert proof is None


def test_a_difference_deep_in_time_is_not_proven_away():
    """The data goes wrong in the last of up to 15 cycles only: beyond the bounded look."""
    proof, _ = prove(BLOCK, "wdata_q + 4'd1", "(left_q == 4'd15 ? 4'd0 : wdata_q + 4'd1)")
    assert proof is None


MULTIPLIER = """
module block (
    input wire clk, input wire rst, input wire start, input wire [23:0] d,
    output logic we_q, output wire [47:0] wdata
);
  logic [23:0] x_q;
  assign wdata = 48'(x_q) * 48'(~x_q);
  always_ff @(posedge clk) begin
    we_q <= start && !rst;
    if (start) x_q <= d;
  end
endmodule
"""


def test_equal_factors_are_all_that_matters_of_a_product():
    """The factors differ in idle cycles: no engine would see through the multipliers."""
    proof, tried = prove(MULTIPLIER, "if (start) x_q", "x_q", limit=1.5)
    assert proof is not None, tried
    assert "products cut" in proof.engine


def test_a_wrong_factor_is_not_cut_away():
    proof, _ = prove(MULTIPLIER, "48'(x_q) *", "48'({1'b0, x_q[22:0]}) *", limit=1.5)
    assert proof is None


BOXES = {
    "top.sv": """
module top (input wire [7:0] a, input wire [7:0] b, output wire [7:0] p, output wire [7:0] q);
  alpha #(.Step(1)) u_a (.x(a), .y(p));
  beta #(.Step(1)) u_b (.x(b), .y(q));
endmodule
""",
    "alpha.sv": """
module alpha #(parameter int Step = 1) (input wire [7:0] x, output wire [7:0] y);
  assign y = x + 8'(Step);
endmodule
""",
    "beta.sv": """
module beta #(parameter int Step = 1) (input wire [7:0] x, output wire [7:0] y);
  assign y = x - 8'(Step);
endmodule
""",
}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alpha #(.Step(1)) u_a", "beta #(.Step(1)) u_a"),
        ("alpha #(.Step(1)) u_a", "alpha #(.Step(2)) u_a"),
        (".x(b), ", ""),
    ],
    ids=["another module", "another parameter", "a port left open"],
)
def test_boxes_are_compared_by_what_they_are(old, new):
    assert BOXES["top.sv"].count(old) == 1
    changed = {**BOXES, "top.sv": BOXES["top.sv"].replace(old, new)}
    proof, tried = Prover(BOXES, limit=4.0).prove(changed)
    assert proof is None
    assert any("boxes: they are not the same: u.u_" in text for text in tried), tried


def test_equal_boxes_stay_equal():
    changed = {**BOXES, "top.sv": BOXES["top.sv"].replace(".x(a)", ".x(a & 8'hff)")}
    proof, tried = Prover(BOXES, limit=4.0).prove(changed)
    assert proof is not None, tried
    assert "equal inputs compared and equal outputs assumed at alpha, beta" in proof.assumptions


def test_surroundings_grow_up_to_the_chip():
    texts = read_sources(own_design())
    prover = Prover(texts)
    scopes = prover.scopes(["ga2_divider.sv"])
    assert [scope.top for scope in scopes] == ["ga2_divider", *2 * ["ga2_softmax"], *2 * ["ga2"]]
    assert "ga2_exp_table" in scopes[1].boxed
    assert "ga2_exp_table" not in scopes[2].boxed
    assert {"ga2_sequencer", "ga2_divider", "ga2_softmax"} <= scopes[-1].real


def test_the_hierarchy_is_read_from_the_rtl():
    tree = Hierarchy(read_sources(own_design()))
    assert tree.parent["ga2_divider"] == "ga2_softmax"
    assert ("start", "input", 1) in tree.ports["ga2_divider"]
    masked = "assign wdata = raw_wdata & {32{raw_we_q}};"
    assert masked in tree.observer("ga2_requant")


def test_imports_move_in_front_of_the_module():
    text = portable("module m;\n  import p::*;\n  wire a;\nendmodule\n")
    assert text.startswith("import p::*;\nmodule m;")


@pytest.mark.parametrize(
    ("aiger", "zero"),
    [
        (b"aig 1 1 0 1 0\n0\n", True),
        (b"aig 1 1 0 1 0\n1\n", False),
        (b"aig 2 1 1 1 0\n4\n0\n", True),
        (b"aig 2 1 1 1 0\n4\n4\n", False),
        (b"aig 1 1 0 2 0\n0\n0\n", False),
    ],
)
def test_a_constant_output_is_read_from_an_aiger_file(aiger, zero):
    assert constant_zero(aiger) is zero


def test_the_sample_is_what_the_proofs_are_about():
    assert FILE in TEXTS
    assert "endmodule" in COUNTER
