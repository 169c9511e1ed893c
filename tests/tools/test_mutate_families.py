"""Families of mutants are proven together, and each of them as if it were alone."""

from __future__ import annotations

import pytest
import yaml

from sim.engine.design import own_design
from sim.mutate.rtl.equivalence import Prover
from sim.mutate.rtl.families import MEMBERS, FamilyProof, claims, families_of, prove_family
from sim.mutate.rtl.source import read_sources
from sim.mutate.rtl.surroundings import SURROUNDINGS
from sim.shared.patch import patch
from sim.shared.paths import ROOT

AMAX = "ga2_amax.sv"
REWRITTEN = ("ren_q <= left_q != 12'd1;", "ren_q <= !(left_q == 12'd1);")
NEVER_STARTED_SO = ("left_q <= len;", "left_q <= len == '0 ? 12'd5 : len;")
ONE_LENGTH = ("left_q <= len;", "left_q <= len == 12'd77 ? 12'd76 : len;")
WRONG_WORD = ("raddr_q <= src;", "raddr_q <= src + 12'd1;")


@pytest.fixture(scope="module")
def prover():
    return Prover(read_sources(own_design()))


def mutated(prover: Prover, file: str, *changes: tuple[str, str]) -> dict[int, dict[str, str]]:
    return {
        number: {**prover.texts, file: patch(prover.texts[file], *change)}
        for number, change in enumerate(changes, 1)
    }


def test_each_member_gets_its_own_verdict(prover):
    changes = (REWRITTEN, WRONG_WORD, NEVER_STARTED_SO, ONE_LENGTH)
    proofs, tried = prove_family(prover, AMAX, mutated(prover, AMAX, *changes))
    assert proofs.keys() == {1, 3}
    assert "inputs are those of the chip: start_is_legal, operands_hold" in proofs[1].assumptions
    assert "a difference within" in tried[2][0]
    assert tried[4]


def test_without_surroundings_a_length_of_zero_counts(prover):
    alone = prover.scopes([AMAX])[0]
    family = mutated(prover, AMAX, REWRITTEN, NEVER_STARTED_SO)
    assert FamilyProof(prover, alone, family).run().keys() == {1}


def test_what_cannot_be_read_is_not_proven_and_says_why(prover):
    family = mutated(prover, AMAX, REWRITTEN, ("left_q <= len;", "left_q <= length_q;"))
    family[2][AMAX] = family[2][AMAX].replace("always_ff", "always_gg")
    proofs, tried = prove_family(prover, AMAX, family)
    assert not proofs
    assert all("yosys: " in text and "rror" in text for number in (1, 2) for text in tried[number])


UNITS = sorted(name for name, rules in SURROUNDINGS.items() if rules.legal)
FIRST = {"ga2_matmul": "addr_q <= base_a;", "ga2_softmax": "raddr_q <= src;"}
"""Where a unit takes its first address, of those that write late; of others "addr_q <= dst;"."""


@pytest.mark.parametrize("unit", UNITS)
def test_units_work_in_their_surroundings(prover, unit):
    """A wrong first address is no equal design: the unit starts, and goes on."""
    file = f"{unit}.sv"
    text = prover.texts[file]
    first = FIRST.get(unit, "addr_q <= dst;")
    wrong = {**prover.texts, file: text.replace(first, first.replace("<= ", "<= ~"))}
    proofs, tried = prove_family(prover, file, {1: wrong})
    assert not proofs
    assert "difference" in tried[1][-1]


@pytest.mark.parametrize("module", sorted(SURROUNDINGS))
def test_surroundings_name_what_is_there(prover, module):
    rules = SURROUNDINGS[module]
    ports = {name: way for name, way, _ in prover.hierarchy.ports[module]}
    driven = {*rules.held, *(name for name, _ in rules.rules)}
    assert all(ports[name] == "input" for name in driven)
    assert not rules.legal or ports[rules.done] == "output"
    known = yaml.safe_load((ROOT / "hw" / "formal" / "proofs.yaml").read_text())["assumptions"]
    assert known.keys() >= set(rules.assumes)


def test_families_are_of_one_file_and_not_too_many():
    files = {number: "ab"[number % 2] for number in range(2 * MEMBERS + 6)}
    families = families_of(files)
    assert sorted(number for family in families for number in family) == list(files)
    assert [len(family) for family in families] == [MEMBERS, 3, MEMBERS, 3]
    assert all(len({files[number] for number in family}) == 1 for family in families)


def test_claims_are_found_among_the_outputs():
    table = "input 0 0 in_a\noutput 0 0 mutant_7\noutput 1 1 mutant_7\noutput 2 0 mutant_3\n"
    assert claims(table) == {7: range(2), 3: range(2, 3)}


@pytest.mark.parametrize(
    "table",
    [
        "output 0 1 mutant_7\noutput 1 0 mutant_7\n",
        "output 0 0 mutant_7\noutput 1 0 mutant_3\noutput 2 1 mutant_7\n",
    ],
    ids=["a hint first", "mixed"],
)
def test_claims_in_another_order_are_refused(table):
    with pytest.raises(ValueError, match="in another order"):
        claims(table)
