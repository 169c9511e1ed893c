"""Mutants from the syntax: what is mutated, what is left alone, and in which words."""

from __future__ import annotations

from collections import Counter

import pytest
from mutation_samples import COUNTER, FILE, TEXTS, by_description, sample_design
from own_plan import own_plan

from sim.mutate.rtl.classics import classics, named_mutants
from sim.mutate.rtl.generate import deduplicate, generate
from sim.mutate.rtl.literals import neighbours, value_of
from sim.mutate.rtl.mutant import apply_edits, canonical, key_of
from sim.mutate.rtl.plan import sample
from sim.mutate.rtl.source import SourceError, errors_of, load
from sim.shared.patch import PatchError, patch


@pytest.fixture(scope="module")
def mutants():
    return generate(sample_design())


@pytest.fixture(scope="module")
def plan():
    return own_plan()


@pytest.mark.parametrize(
    ("literal", "expected"),
    [
        ("8'd1", ["8'd2", "8'd0"]),
        ("1'b0", ["1'b1"]),
        ("4'hF", ["4'he"]),
        ("9'sd127", ["9'sd128", "9'sd126"]),
        ("'0", ["'1"]),
        ("7", ["8", "6"]),
        ("0", ["1"]),
        ("32'hdead_beef", ["32'hdeadbef0", "32'hdeadbeee"]),
        ("4'bx", []),
    ],
)
def test_neighbours_of_literals(literal, expected):
    assert neighbours(literal) == expected


def test_values_of_literals():
    assert value_of("12'h0_ff") == 255
    with pytest.raises(ValueError, match="no plain number"):
        value_of("4'bz")


@pytest.mark.parametrize(
    ("description", "line", "new"),
    [
        ("&& becomes ||", 16, "assign busy = (state_q == StRun) || (!start);"),
        ("== becomes !=", 16, "assign busy = (state_q) != (StRun) && !start;"),
        ("StRun becomes StEnd", 25, "state_q <= StEnd;"),
        ("reset of count dropped", 21, "state_q <= StIdle;\n      \n"),
        ("x[6:0] takes [7:1]", 30, "{x[7:1], 1'b1}"),
        ("Step is one too large", 29, "8'((Step + 32'sd1))"),
        ("arms swapped in start", 33, "(start) ? (StIdle) : (StRun)"),
        ("$signed(x) becomes unsigned", 17, "$unsigned(x) * $signed(limit)"),
    ],
)
def test_a_mutant_says_what_it_does(mutants, description, line, new):
    found = [m for m in mutants if description in m.description and m.line == line]
    assert found, [(m.line, m.description) for m in mutants]
    texts = [apply_edits(TEXTS, mutant.edits)[FILE] for mutant in found]
    assert any(canonical(new) in canonical(text) for text in texts), texts[0]


def test_every_kind_that_the_sample_has_is_mutated(mutants):
    kinds = Counter(mutant.kind for mutant in mutants)
    wanted = {"arithmetic", "comparison", "condition", "constant", "drop", "logic", "range",
              "reset", "sign", "ternary"}  # fmt: skip
    assert set(kinds) == wanted


def test_shapes_of_the_design_are_left_alone(mutants):
    for mutant in mutants:
        line = COUNTER.splitlines()[mutant.line - 1]
        assert "localparam" not in line
        assert "for (genvar" not in line
        assert not line.lstrip().startswith(("input", "output", "typedef"))


def test_every_mutant_of_the_sample_compiles(mutants):
    for mutant in mutants:
        assert errors_of(apply_edits(TEXTS, mutant.edits)) == [], mutant.description


def test_no_two_mutants_make_the_same_text(mutants):
    keys = [key_of(mutant, TEXTS) for mutant in mutants]
    assert len(set(keys)) == len(keys)
    assert deduplicate([*mutants, *mutants], TEXTS) == mutants


def test_an_unsigned_declaration_needs_a_build_of_its_own():
    texts = {FILE: COUNTER.replace("output logic [7:0] count", "output logic signed [7:0] count")}
    mutant = by_description(generate(load(texts)), "declared unsigned")
    assert not mutant.schema
    assert "output logic  [7:0] count" in apply_edits(texts, mutant.edits)[FILE]


def test_a_constant_table_is_wrong_entry_by_entry(plan):
    entries = [m for m in plan.mutants.values() if m.kind == "table"]
    assert len(entries) == 256
    assert entries[0].description.startswith("table entry 0: 16'hFFFF becomes 16'hfffe")


def test_broken_rtl_is_refused():
    with pytest.raises(SourceError, match="does not compile"):
        load({FILE: COUNTER.replace("assign busy =", "assign busy ==")})


def test_the_rtl_gives_a_thousand_mutants_of_every_file_and_kind(plan):
    assert len(plan.mutants) >= 1000
    files = {mutant.file for mutant in plan.mutants.values()}
    described_only = {"ga2_pkg.sv"}  # nothing but names of constants, mutated where they are used
    assert files == set(plan.texts) - described_only
    assert all(m.line >= 1 and m.description for m in plan.mutants.values())


def test_the_named_faults_fit_the_rtl_and_compile(plan):
    named = [mutant.name for mutant in plan.mutants.values() if mutant.name]
    assert len(named) >= 40
    assert set(named) == {classic.name for classic in classics()}
    for number, mutant in plan.mutants.items():
        if mutant.name:
            assert mutant.schema, mutant.name
            assert errors_of(plan.mutated(number)) == [], mutant.name


def test_a_named_fault_that_does_not_fit_says_so():
    with pytest.raises(PatchError, match=r"'c' occurs 0 times, not once, in a\.sv"):
        patch("assign a = b;", "c", "d", "a.sv")
    with pytest.raises(PatchError, match="occurs 2 times"):
        patch("a = b + b;", "b", "d")
    assert patch("a =\n  b + b;", "= b", "= d") == "a = d + b;"
    with pytest.raises(PatchError, match=r"fault pc-off: .* adapt classics\.yaml to the RTL"):
        named_mutants(sample_design())


def test_a_sample_has_every_kind(plan):
    chosen = sample(2)(list(plan.mutants.values()))
    kinds = Counter(mutant.kind for mutant in chosen)
    assert set(kinds) == {mutant.kind for mutant in plan.mutants.values()}
    assert set(kinds.values()) == {2}
