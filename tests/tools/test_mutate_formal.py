"""Mutants against the proofs: refuted by a property, a hole where all proofs still go through."""

from __future__ import annotations

import re

import msgspec
import pytest
from own_plan import own_plan
from rich.console import Console

from sim.engine.design import own_design
from sim.formal.proofs import catalogue
from sim.formal.script import Task, write_script
from sim.mutate.common.finding import KILLED, OPEN, PROVEN, SURVIVED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.proofs.__main__ import chosen, open_store
from sim.mutate.proofs.campaign import LIMIT, Campaign
from sim.mutate.proofs.model import make_model
from sim.mutate.proofs.report import HOLE, REFUTED, UNTRIED, status_of, summarize
from sim.mutate.proofs.scope import Scopes
from sim.mutate.proofs.solve import PASSED, UNKNOWN, UNPROVED, Answer, search, still_proved
from sim.mutate.proofs.solve import REFUTED as FAILED
from sim.shared.part import WHOLE, Part

PROOFS = {proof.name: proof for proof in catalogue().proofs}
TIMES = PROOFS["amax"].properties  # which proofs of effects have, too
FILE = "ga2_requant.sv"


@pytest.fixture(scope="module")
def plan():
    return own_plan()


@pytest.fixture(scope="module")
def scopes(plan):
    return Scopes(own_design(), {plan.keys[n]: m.file for n, m in plan.mutants.items()})


def of_file(plan, file, schema=True):
    return {n: m for n, m in plan.mutants.items() if m.file == file and m.schema == schema}


# A proof, the file of mutants, and which of a kind is asked about: all are refuted in no time.
SAMPLE = [
    (
        *("sequencer", "ga2_sequencer.sv"),
        dict.fromkeys(["condition", "comparison", "constant", "delay", "edge", "logic", "reset"], 0)
        | {"ternary": 0, "enable": 3},
    ),
    (
        *("amax_effect", "ga2_amax.sv"),
        dict.fromkeys(["arithmetic", "carry", "classic", "coincidence", "drop", "rare", "sign"], 0)
        | {"narrow": 1, "previous": 0, "stale": 1},
    ),
    ("fault_checker", "ga2_fault_checker.sv", {"range": 0}),
    ("exp_table", "ga2_exp_table.sv", {"table": 0}),
]


@pytest.mark.parametrize(("name", "file", "picked"), SAMPLE)
def test_a_mutant_of_each_kind_is_refuted_and_the_design_is_not(plan, name, file, picked):
    """In one model, by a property of the proof."""
    proof = PROOFS[name]
    kinds = {kind: [n for n, m in of_file(plan, file).items() if m.kind == kind] for kind in picked}
    few = {kinds[kind][index]: plan.mutants[kinds[kind][index]] for kind, index in picked.items()}
    model = make_model(write_script(proof, Task.SEARCH, own_design()), plan.texts, file, few)
    assert model.inside
    names = {claim.name for claim in proof.properties} | {claim.name for claim in TIMES}
    for number, mutant in few.items():
        answer = search(model.awake(number), proof, LIMIT)
        assert answer.status == FAILED, mutant.description
        assert set(answer.failed) & names, answer
    if name != "amax_effect":  # which takes long
        assert search(model.awake(0), proof, LIMIT).status == PASSED


def test_the_sample_has_every_kind(plan):
    assert {kind for *_, picked in SAMPLE for kind in picked} == {
        mutant.kind for mutant in plan.mutants.values()
    }


def test_the_design_is_proved_through_a_model_and_a_proof_that_cuts_a_file_does_not_see_it(plan):
    proof, mutants = PROOFS["requant"], of_file(plan, FILE)
    number = next(number for number, mutant in mutants.items() if mutant.kind == "reset")
    one = {number: mutants[number]}
    model = make_model(write_script(proof, Task.PROVE, own_design()), plan.texts, FILE, one)
    assert still_proved(model.awake(0), proof, LIMIT).status == PASSED
    assert still_proved(model.awake(number), proof, LIMIT).status != PASSED
    other = "ga2_requantizer.sv"
    cut = write_script(proof, Task.SEARCH, own_design())
    assert not make_model(cut, plan.texts, other, of_file(plan, other)).inside


def test_a_mutant_that_cannot_be_switched_is_built_in(plan):
    ((number, mutant),) = of_file(plan, FILE, schema=False).items()
    proof = PROOFS["requant"]
    script = write_script(proof, Task.SEARCH, own_design())
    model = make_model(script, plan.texts, FILE, {number: mutant})
    assert model.inside
    assert model.awake(number) == model.text


def test_proofs_are_asked_from_the_module_outwards(scopes):
    names = [proof.name for proof in scopes.of("ga2_vadd.sv")]
    assert names[:2] == ["vadd_effect", "vadd"]
    assert names[2:] == ["chip", "sum", "effects"]


def test_a_campaign_is_resumed_and_judged_by_what_it_depends_on(plan, scopes, tmp_path):
    """One mutant that a property refutes, and one in a table that these proofs cut away."""
    seen = next(n for n, m in of_file(plan, FILE).items() if m.kind == "reset")
    cut = next(n for n, m in of_file(plan, "ga2_exp_table.sv").items() if m.kind == "table")
    few = type(scopes)(own_design(), scopes.files)
    few.proofs = {name: PROOFS[name] for name in ("requant_effect", "softmax")}
    store = Store(tmp_path / "formal.jsonl", few.basis)
    progress = StageProgress(Console(), quiet=True)
    Campaign(plan, few, store, [seen, cut], 1, progress).run()
    found = {n: store.findings[plan.keys[n]] for n in (seen, cut)}
    assert (found[seen].status, found[seen].engine) == (KILLED, "requant_effect")
    assert found[cut].status == SURVIVED
    again = Store(tmp_path / "formal.jsonl", few.basis)
    again.load()
    assert again.findings == store.findings
    simulated = Store(tmp_path / "state.jsonl")
    summary = summarize(plan, few, again, simulated, {})
    by_number = {row.number: row for row in summary.rows}
    assert (by_number[seen].status, by_number[cut].status) == (REFUTED, HOLE)
    assert any(line.startswith("HOLE ga2_exp_table.sv") for line in summary.lines())
    changed = Store(tmp_path / "formal.jsonl", lambda _: "another basis")
    changed.load()
    assert not changed.findings
    msgspec.json.encode(summary.as_json())


def test_a_search_that_met_its_time_limit_is_asked_again(plan, scopes, tmp_path, monkeypatch):
    number = next(n for n, m in of_file(plan, FILE).items() if m.kind == "reset")
    few = type(scopes)(own_design(), scopes.files)
    few.proofs = {"requant_effect": PROOFS["requant_effect"]}
    monkeypatch.setattr("sim.mutate.proofs.campaign.search", lambda *_: Answer(UNKNOWN, (), 120.0))
    monkeypatch.setattr(
        "sim.mutate.proofs.campaign.still_proved", lambda *_: Answer(UNKNOWN, (), 120.0)
    )

    def statuses():
        store = Store(tmp_path / "formal.jsonl", few.basis)
        store.load()
        progress = StageProgress(Console(), quiet=True)
        Campaign(plan, few, store, [number], 1, progress).run()
        return store.findings[plan.keys[number]].status

    assert statuses() == OPEN
    monkeypatch.undo()
    assert statuses() == KILLED


def test_what_parts_found_is_put_together_and_forgotten_together(scopes, tmp_path):
    for part, finding in [
        (Part(1, 2), Finding("k", KILLED, engine="e")),
        (Part(2, 2), Finding("k", OPEN, survived=("vadd",))),
        (Part(2, 2), Finding("l", SURVIVED)),
    ]:
        open_store(tmp_path, part, scopes).add(finding)
    assert len(list(tmp_path.glob("formal-*-of-2.jsonl"))) == 2
    whole = open_store(tmp_path, WHOLE, scopes)
    assert {key: one.status for key, one in whole.findings.items()} == {"k": KILLED, "l": SURVIVED}
    whole.forget(["k"])
    assert list(open_store(tmp_path, WHOLE, scopes).findings) == ["l"]


def test_parts_of_a_campaign_are_neighbours_of_one_file(plan):
    shares = [chosen(2, Part(number, 5))(list(plan.mutants.values())) for number in range(1, 6)]
    files = [mutant.file for share in shares for mutant in share]
    assert files == sorted(files)
    whole = chosen(2, WHOLE)(list(plan.mutants.values()))
    assert [mutant for share in shares for mutant in share] == whole


def test_a_proof_that_fails_without_a_short_run_names_the_helper(plan):
    """The index needs 2,048 words to get there."""
    name, file = "amax_effect", "ga2_amax.sv"
    mutants = of_file(plan, file).items()
    mutant = next((n, m) for n, m in mutants if m.description == "index_q has 11 bits")
    script = write_script(PROOFS[name], Task.PROVE, own_design())
    model = make_model(script, plan.texts, file, dict([mutant]))
    answer = still_proved(model.awake(mutant[0]), PROOFS[name], LIMIT)
    assert answer.status == UNPROVED
    assert any(re.fullmatch(r"ga2_amax\.svh:\d+", one) for one in answer.failed), answer
    assert still_proved(model.awake(0), PROOFS[name], LIMIT).status == PASSED


@pytest.mark.parametrize(
    ("known", "simulated", "status"),
    [
        (Finding("k", KILLED), Finding("k", PROVEN), REFUTED),
        (Finding("k", SURVIVED), Finding("k", PROVEN), "equivalent"),
        (Finding("k", SURVIVED), Finding("k", KILLED), HOLE),
        (Finding("k", OPEN), None, "open"),
        (None, None, UNTRIED),
    ],
)
def test_a_fate_takes_both_engines_into_account(known, simulated, status):
    assert status_of(known, simulated) == status
