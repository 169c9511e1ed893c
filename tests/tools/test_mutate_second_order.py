"""Second-order mutants: one small unit in, what each class makes of it out."""

from __future__ import annotations

import random
import subprocess
from collections import Counter

import pytest
from own_plan import own_plan

from sim.engine.compilers import tool_environment
from sim.mutate.rtl.equivalence import Prover
from sim.mutate.rtl.mutant import Form, apply_edits, canonical
from sim.mutate.rtl.schema import instrument
from sim.mutate.rtl.second_order.generate import CLASSES, second_order
from sim.mutate.rtl.source import errors_of, load

FILE = "copier.sv"
COPIER = """\
`default_nettype none
module copier (
    input  wire        clk,
    input  wire        rst,
    input  wire        start,
    input  wire  [3:0] len,
    input  wire        in_valid,
    input  wire  [7:0] in_data,
    output logic [7:0] sum_q,
    output logic       we_q,
    output wire        done
);
  typedef enum logic [1:0] {StIdle, StRun, StEnd} state_e;
  state_e state_q;
  logic [3:0] left_q;
  logic [3:0] taken_q;
  wire accept = in_valid && state_q == StRun;
  assign done = state_q == StEnd;
  always_ff @(posedge clk) begin
    if (rst) begin
      state_q <= StIdle;
      we_q <= 1'b0;
    end else if (start) begin
      state_q <= StRun;
      left_q <= len;
      taken_q <= '0;
      sum_q <= '0;
    end else begin
      we_q <= accept;
      if (we_q) taken_q <= taken_q + 4'd1;
      if (accept) begin
        sum_q <= sum_q + in_data;
        left_q <= left_q - 4'd1;
      end
      case (state_q)
        StRun: if (left_q == taken_q) state_q <= StEnd;
        default: state_q <= StIdle;
      endcase
    end
  end
endmodule
`default_nettype wire
"""
TEXTS = {FILE: COPIER}


@pytest.fixture(scope="module")
def mutants():
    return second_order(load(TEXTS))


@pytest.fixture(scope="module")
def plan():
    return own_plan()


@pytest.mark.parametrize(
    ("kind", "description", "texts"),
    [
        (
            "carry", "carry into bit 3 lost in left_q - 4'd1",
            ["left_q <= ((left_q) - (4'd1)) + (((left_q) ^ (4'd1) ^ ((left_q) - (4'd1))) & 4'h8);"],
        ),
        (
            "narrow", "taken_q has 3 bits",
            ["begin taken_q <= '0; taken_q[3] <= 1'b0; end",
             "if (we_q) begin taken_q <= taken_q + 4'd1; taken_q[3] <= 1'b0; end"],
        ),
        (
            "enable", "reset lost in StRun: we_q <= 1'b0;",
            ["begin if (state_q != StRun) we_q <= 1'b0; end"],
        ),
        (
            "enable", "we_q holds nothing back while state_q == StEnd",
            ["if ((we_q) || state_q == StEnd) taken_q"],
        ),
        (
            "stale", "not updated when we_q: left_q <= left_q - 4'd1;",
            ["begin if (!we_q) left_q <= left_q - 4'd1; end"],
        ),
        (
            "rare", "sum_q + in_data is wrong when the operands are equal",
            ["((sum_q) == (in_data)) ? ((sum_q + in_data) ^ 8'd1) : (sum_q + in_data)"],
        ),
        (
            "rare", "sum_q + in_data is wrong when it is all ones",
            ["((sum_q + in_data) == 8'hff) ? ((sum_q + in_data) ^ 8'd1) : (sum_q + in_data)"],
        ),
        (
            "rare", "sum_q + in_data is wrong at the last element: left_q is 1",
            ["(left_q == 4'd1) ? ((sum_q + in_data) ^ 8'd1) : (sum_q + in_data)"],
        ),
        (
            "rare", "sum_q + in_data is wrong after more than 7 cycles without in_valid",
            ["(waited_q > 8'd7) ? ((sum_q + in_data) ^ 8'd1) : (sum_q + in_data)",
             "if (in_valid) waited_q <= '0; else if (waited_q != '1) waited_q <= waited_q + 8'd1;"],
        ),
        (
            "delay", "in_valid counts a cycle late in wire accept = in_valid && state_q == StRun;",
            ["accept = in_valid_before_q && state_q", "logic in_valid_before_q;",
             "if (rst) in_valid_before_q <= '0; else in_valid_before_q <= in_valid;"],
        ),
        (
            "delay", "we_q counts a cycle early in if (we_q) taken_q <= taken_q + 4'd1;",
            ["if ((accept)) taken_q"],
        ),
        (
            "edge", "only the rising edge of in_valid counts",
            ["accept = (in_valid && !in_valid_before_q) && state_q"],
        ),
        (
            "edge", "start still counts in the cycle after",
            ["else if ((start || start_before_q)) begin"],
        ),
        (
            "previous", "only at the first start: sum_q <= '0;",
            ["begin if (!ran_q) sum_q <= '0; end",
             "if (rst) ran_q <= '0; else if (start) ran_q <= 1'b1;"],
        ),
        (
            "previous", "len of the start before",
            ["left_q <= last_len_q;", "logic [3:0] last_len_q;",
             "if (rst) last_len_q <= '0; else if (start) last_len_q <= len;"],
        ),
        (
            "coincidence", "left_q <= left_q - 4'd1; lost when taken_q ticks",
            ["begin if (!((we_q))) left_q <= left_q - 4'd1; end"],
        ),
        (
            "coincidence", "taken_q <= taken_q + 4'd1; twice when left_q ticks",
            ["begin if ((accept)) taken_q <= taken_q + (4'd1) + (4'd1); else taken_q <="],
        ),
    ],
)  # fmt: skip
def test_a_class_makes_of_a_unit(mutants, kind, description, texts):
    found = [m for m in mutants if m.kind == kind and m.description == description]
    assert found, [m.description for m in mutants if m.kind == kind]
    made = canonical(apply_edits(TEXTS, found[0].edits)[FILE])
    for text in texts:
        assert canonical(text) in made, apply_edits(TEXTS, found[0].edits)[FILE]


def test_every_class_has_a_name_and_mutants(mutants):
    assert set(Counter(m.kind for m in mutants)) == {made.__name__ for made in CLASSES}


def test_every_carry_of_a_sum_is_cut_once(mutants):
    cut = [
        m.description for m in mutants if m.kind == "carry" and "sum_q + in_data" in m.description
    ]
    assert cut == [f"carry into bit {bit} lost in sum_q + in_data" for bit in range(1, 8)]


def test_a_constant_causes_no_carry_below_its_lowest_bit():
    texts = {FILE: COPIER.replace("left_q - 4'd1", "left_q - 4'd4")}
    cut = [m.description for m in second_order(load(texts)) if "lost in left_q" in m.description]
    assert cut == ["carry into bit 3 lost in left_q - 4'd4"]


def test_every_mutant_compiles_and_one_of_each_class_is_clean(mutants, tmp_path):
    assert all(errors_of(apply_edits(TEXTS, mutant.edits)) == [] for mutant in mutants)
    for mutant in {mutant.kind: mutant for mutant in mutants}.values():
        path = tmp_path / FILE
        path.write_text(apply_edits(TEXTS, mutant.edits)[FILE])
        lint = ["verilator", "--lint-only", "--quiet", "-Wall", str(path)]
        said = subprocess.run(
            lint, capture_output=True, text=True, check=False, env=tool_environment()
        )
        assert not said.returncode, f"{mutant.description}: {said.stderr}"


def test_asleep_all_of_them_are_the_design_and_awake_one_is_the_mutant(mutants):
    numbered = dict(enumerate(mutants, 1))
    asleep = instrument(TEXTS, numbered, selector="32'd0")
    proof, tried = Prover(TEXTS).prove(asleep)
    assert proof is not None, tried
    for number in random.Random(1).sample(list(numbered), 4):
        awake = instrument(TEXTS, numbered, selector=f"32'd{number}")
        mutated = apply_edits(TEXTS, numbered[number].edits)
        proof, tried = Prover(mutated).prove(awake)
        assert proof is not None, (numbered[number].description, tried)


def test_the_state_that_mutants_read_is_declared_once(mutants):
    text = instrument(TEXTS, dict(enumerate(mutants, 1)), selector="id")[FILE]
    assert text.count("logic [3:0] last_len_q;") == 1
    assert text.count("ran_q <= 1'b1;") == 1


def test_the_rtl_has_thousands_of_every_class(plan):
    kinds = Counter(mutant.kind for mutant in plan.mutants.values())
    assert all(kinds[made.__name__] >= 50 for made in CLASSES), kinds
    assert sum(kinds[made.__name__] for made in CLASSES) >= 2000
    classes = {made.__name__ for made in CLASSES}
    mine = [n for n, mutant in plan.mutants.items() if mutant.kind in classes]
    assert all(plan.mutants[n].schema for n in mine)
    for number in random.Random(2).sample(mine, 25):
        assert errors_of(plan.mutated(number)) == [], plan.mutants[number].description


def test_state_of_a_mutant_is_no_change_by_itself(mutants):
    for mutant in mutants:
        first, *others = mutant.edits
        assert first.form in (Form.EXPR, Form.STMT)
        assert all(edit.start == edit.end for edit in others if edit.form is Form.DECLARATION)
