"""Proofs: a quick slice of them, and that nothing counts as proved that is not."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace

import pytest

from sim.formal import sby
from sim.formal.__main__ import Row, report
from sim.formal.proofs import PROOFS, Mutant, Proof, Property
from sim.shared.paths import ROOT

SCRIPTS = ROOT / "hw" / "formal"
PROPERTIES = [(proof, each) for proof in PROOFS for each in proof.properties]


def names(value: object) -> str:
    return value.name if isinstance(value, Proof | Property) else str(value)


def proof_of(module: str, task: str = "prove") -> Proof:
    return next(p for p in PROOFS if p.module == module and p.task == task)


@pytest.fixture(scope="module")
def new_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formal")


@pytest.fixture
def no_memory(new_folder, monkeypatch):
    """Nothing is known but what these tests have run themselves."""
    monkeypatch.setattr(sby, "FOLDER", new_folder)


@pytest.mark.parametrize(("proof", "each"), PROPERTIES, ids=names)
def test_every_mutant_applies_to_the_design_as_it_is(proof, each, tmp_path):
    shutil.copytree(ROOT / "hw" / "rtl", tmp_path / "rtl")
    shutil.copytree(SCRIPTS, tmp_path / "formal")
    before = (tmp_path / each.mutant.file).read_text()
    sby.patched(tmp_path, each.mutant)
    assert (tmp_path / each.mutant.file).read_text() != before


@pytest.mark.parametrize("mutant", ["no such text", "assign"])
def test_a_mutant_that_does_not_apply_once_is_an_error(mutant, tmp_path):
    shutil.copytree(ROOT / "hw" / "rtl", tmp_path / "rtl")
    with pytest.raises(sby.PatchError, match="occurs"):
        sby.patched(tmp_path, Mutant("rtl/ga2.sv", mutant, ""))


@pytest.mark.parametrize("script", sorted({proof.script for proof in PROOFS}))
def test_every_script_has_its_tasks_and_files(script):
    text = (SCRIPTS / f"{script}.sby").read_text()
    listed = text.split("[files]\n")[1].split()
    assert all((SCRIPTS / name).exists() for name in listed)
    tasks = text.split("[tasks]\n")[1].split("\n\n")[0].split()
    for proof in PROOFS:
        if proof.script == script:
            searches = {each.search for each in proof.properties if each.search}
            assert {proof.task, proof.search, *searches} <= set(tasks)


def test_every_labelled_assertion_is_in_the_table():
    known = {each.name for _, each in PROPERTIES} | {"cycle_in_range"}
    for path in [*SCRIPTS.glob("*.svh"), *SCRIPTS.glob("*.sv")]:
        text = path.read_text()
        labels = re.findall(r"(\w+) : assert \(", text) + re.findall(r"`GA2_ENSURE\((\w+),", text)
        if path.name != "ga2_formal.svh":
            assert set(labels) <= known, path.name


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize(
    ("module", "task", "bound"),
    [
        ("ga2_sequencer", "prove", "unbounded"),
        ("ga2_requantizer", "product", "all inputs"),
        ("ga2_amax", "prove", "unbounded"),
    ],
)
def test_a_property_is_proved_and_fails_on_its_mutant(module, task, bound):
    proof = proof_of(module, task)
    proved = sby.run(proof)
    assert (proved.status, proved.bound) == ("PASS", bound), proved.log
    each = proof.properties[0]
    row = Row(proof, each, proved, sby.run(proof, each.mutant))
    assert row.passed, row.mutant.log
    assert each.name in report([row])


@pytest.mark.usefixtures("no_memory")
def test_what_is_not_asserted_is_not_proved():
    proof = proof_of("ga2_sequencer")
    missing = replace(proof.properties[0], name="nowhere_asserted")
    row = Row(proof, missing, sby.run(proof), None)
    assert not row.passed
    assert row.verdict == "NOT ASSERTED"


@pytest.mark.usefixtures("no_memory")
def test_a_mutant_without_effect_is_not_noticed():
    proof = proof_of("ga2_sequencer")
    harmless = Mutant("rtl/ga2_sequencer.sv", "assign running =", "assign  running =")
    row = Row(proof, proof.properties[0], sby.run(proof), sby.run(proof, harmless))
    assert row.holds
    assert not row.noticed
    assert "NOT NOTICED" in row.mutant_verdict


@pytest.mark.usefixtures("no_memory")
def test_a_verdict_is_kept_until_the_design_changes(monkeypatch):
    proof = proof_of("ga2_requantizer", "product")
    first = sby.run(proof)
    monkeypatch.setattr(sby, "_sby", lambda *_: pytest.fail("was run again"))
    assert sby.run(proof) == first
    assert sby.fingerprint(proof, "product", None) != sby.fingerprint(
        proof, "product", proof.properties[0].mutant
    )
