"""The instrumented copy: asleep it is the design, awake it is the mutant."""

from __future__ import annotations

import pytest
from mutation_samples import FILE, TEXTS, sample_design

from sim.engine.design import Design, own_design
from sim.mutate.rtl.equivalence import Prover
from sim.mutate.rtl.generate import generate
from sim.mutate.rtl.mutant import Edit, Form, Mutant, apply_edits
from sim.mutate.rtl.plan import every, make_plan
from sim.mutate.rtl.schema import CONTROL, PACKAGE_FILE, SchemaError, instrument, write
from sim.mutate.rtl.source import errors_of, read_sources

# The modules with signed, wide or nested expressions, where a schema could do harm. Multipliers are
# left out: proving one equal takes the engines minutes.
DELICATE = ["ga2_vadd.sv", "ga2_fault_checker.sv", "ga2_sequencer.sv", "ga2_divider.sv"]


@pytest.fixture(scope="module")
def numbered():
    mutants = [mutant for mutant in generate(sample_design()) if mutant.schema]
    return dict(enumerate(mutants, 1))


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
def test_asleep_the_copy_of_a_module_is_the_module(file):
    plan = make_plan(own_design(), every)
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


def test_the_written_copy_compiles_and_has_its_control(tmp_path):
    plan = make_plan(own_design(), every)
    mutants = {n: m for n, m in plan.mutants.items() if m.schema}
    write(tmp_path, plan.texts, mutants)
    texts = read_sources(Design.load(tmp_path))
    assert list(texts) == [PACKAGE_FILE, *plan.texts]
    assert CONTROL in texts["ga2.sv"]
    assert errors_of(texts) == []
