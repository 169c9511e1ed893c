"""The instrumented copy: asleep it is the design, awake it is the mutant."""

from __future__ import annotations

import shutil

import pytest
from mutation_samples import FILE, TEXTS, sample_design
from own_plan import own_plan

from sim.engine.design import Design
from sim.mutate.rtl.equivalence import Prover
from sim.mutate.rtl.generate import generate
from sim.mutate.rtl.mutant import Edit, Form, Mutant, apply_edits
from sim.mutate.rtl.plan import every, make_plan
from sim.mutate.rtl.schema import CONTROL, PACKAGE_FILE, SELECTOR, SchemaError, instrument, write
from sim.mutate.rtl.source import errors_of, read_sources
from sim.shared.patch import Patch
from sim.shared.paths import RTL

# The modules with signed, wide or nested expressions, where a schema could do harm. Multipliers are
# left out: proving one equal takes the engines minutes.
DELICATE = ["ga2_vadd.sv", "ga2_fault_checker.sv", "ga2_sequencer.sv", "ga2_divider.sv"]

TICK = """\
`default_nettype none
module tick (
    input wire clk,
    input wire rst
);
  logic [7:0] count_q;
  always_ff @(posedge clk) begin
    if (rst) count_q <= 8'd0;
    else count_q <= count_q + 8'd1;
  end
endmodule
`default_nettype wire
"""


@pytest.fixture(scope="module")
def numbered():
    mutants = [mutant for mutant in generate(sample_design()) if mutant.schema]
    return dict(enumerate(mutants, 1))


@pytest.fixture(scope="module")
def plan():
    return own_plan()


def mutant(start: int, end: int, text: str, form: Form = Form.EXPR) -> Mutant:
    return Mutant("test", FILE, 1, "a test", (Edit(FILE, start, end, text, form),))


def place(text: str) -> tuple[int, int]:
    start = TEXTS[FILE].index(text)
    return start, start + len(text)


def test_asleep_the_copy_is_the_design(numbered):
    asleep = instrument(TEXTS, numbered, selector="32'd0")
    assert asleep != TEXTS
    proof, tried = Prover(TEXTS).prove(asleep)
    assert proof is not None, tried


@pytest.mark.parametrize("file", DELICATE)
def test_asleep_the_copy_of_a_module_is_the_module(file, plan):
    mine = [n for n, m in plan.mutants.items() if m.schema and m.file == file]
    mutants = {n: plan.mutants[n] for n in mine[::4]}  # Yosys takes seconds for a thousand
    texts = instrument(plan.texts, mutants, selector="32'd0")
    only = {**plan.texts, file: texts[file]}
    proof, tried = Prover(plan.texts).prove(only)
    assert proof is not None, tried


def test_awake_a_schema_is_the_mutant(numbered):
    for number in list(numbered)[::7]:
        awake = instrument(TEXTS, numbered, selector=f"32'd{number}")
        mutated = apply_edits(TEXTS, numbered[number].edits)
        proof, tried = Prover(mutated).prove(awake)
        assert proof is not None, (numbered[number].description, tried)


def test_the_neighbour_is_not_the_mutant(numbered):
    """The proofs above can fail: number 2 is not number 1."""
    first, second = (instrument(TEXTS, numbered, selector=f"32'd{n}") for n in (1, 2))
    proof, _ = Prover(first).prove(second)
    assert proof is None


def test_nested_and_repeated_ranges_are_all_switched():
    outer, inner = place("count + 8'(Step)"), place("8'(Step)")
    mutants = {
        1: mutant(*outer, "count - 8'(Step)"),
        2: mutant(*outer, "count"),
        3: mutant(*inner, "8'd2"),
    }
    text = instrument(TEXTS, mutants, selector="id")[FILE]
    assert "((id - 32'd1) <= 32'd1) ? ((id == 32'd1) ? (count - 8'(Step)) : (count))" in text
    assert "(count + ((id == 32'd3) ? ((8'd2)) : (8'(Step))))" in text


def test_statements_are_switched_whole():
    where = place("count <= '0;")
    text = instrument(TEXTS, {4: mutant(*where, ";", Form.STMT)}, selector="id")[FILE]
    assert "begin if (id == 32'd4) begin if (id == 32'd4) begin  end end else" in text


def test_ranges_that_cross_are_refused():
    start, end = place("state_q == StRun && !start")
    crossing = {1: mutant(start, end - 3, "1'b0"), 2: mutant(start + 3, end, "1'b0")}
    with pytest.raises(SchemaError, match="overlap"):
        instrument(TEXTS, crossing)


def test_what_no_schema_can_express_is_refused():
    with pytest.raises(SchemaError, match="build of its own"):
        instrument(TEXTS, {1: mutant(0, 1, "", Form.TEXT)})


def test_the_written_copy_compiles_and_has_its_control(tmp_path, plan):
    mutants = {n: m for n, m in plan.mutants.items() if m.schema}
    write(tmp_path, plan.texts, mutants)
    texts = read_sources(Design.load(tmp_path))
    assert list(texts) == [PACKAGE_FILE, *plan.texts]
    assert CONTROL in texts["ga2.sv"]
    assert errors_of(texts) == []


def test_the_design_that_is_given_is_the_one_whose_faults_are_planted(tmp_path, plan, monkeypatch):
    """A copy with a change, and with one more file, which its own top instantiates."""
    rtl = tmp_path / "rtl"
    shutil.copytree(RTL, rtl)
    (rtl / "tick.sv").write_text(TICK)
    (rtl / "ga2.f").write_text("tick.sv\n" + (rtl / "ga2.f").read_text())
    top = rtl / "ga2.sv"
    patch = Patch("ga2.sv", "`ifdef FORMAL", "tick i_tick (.clk(clk), .rst(rst));\n`ifdef FORMAL")
    top.write_text(patch.apply(top.read_text()))
    # A named fault has its place here no more.
    counters = rtl / "ga2_counters.sv"
    counters.write_text(counters.read_text().replace("n_inst_q + 32'd1", "32'd1 + n_inst_q"))
    design = Design.load(rtl)

    monkeypatch.setattr("sim.mutate.rtl.plan.suite", lambda: plan.tests)
    given = make_plan(design, every)
    assert given.basis.design == design.hash != plan.basis.design
    assert [text for text in given.unfit if "n_inst_q" in text]
    ticks = {n: m for n, m in given.mutants.items() if m.file == "tick.sv" and m.schema}
    assert {"arithmetic", "reset"} <= {mutant.kind for mutant in ticks.values()}

    write(tmp_path / "copy", given.texts, ticks)
    texts = read_sources(Design.load(tmp_path / "copy"))
    assert errors_of(texts) == []
    assert SELECTOR in texts["tick.sv"]
    assert "32'd1 + n_inst_q" in texts["ga2_counters.sv"]
    assert texts["ga2_vadd.sv"] == (RTL / "ga2_vadd.sv").read_text()
