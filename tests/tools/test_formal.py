"""Proofs: a quick slice of them, and that nothing counts as proved that is not."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import msgspec
import psutil
import pytest

from sim.engine.compilers import tool_environment
from sim.engine.design import Design, own_design
from sim.formal import sby
from sim.formal import script as scripts
from sim.formal.__main__ import Checked, assumption_flaw, assumptions_table, properties_table
from sim.formal.counterexample import counterexample_script, explain
from sim.formal.proofs import Catalogue, Proof, Property, catalogue
from sim.formal.script import ScriptError, Task, check_assumptions, needed, write_script
from sim.formal.smtbmc import questions
from sim.shared.patch import Patch, PatchError, patch
from sim.shared.paths import ROOT, RTL

PROPERTIES = ROOT / "hw" / "formal"
SEARCHES = {"divisor_is_zero", "search_is_narrow"}  # assumed where a counterexample is looked for
PROOFS = {proof.name: proof for proof in catalogue().proofs}
FAULT = ("ga2_amax.sv", "left_q <= len;", "left_q <= len + 12'd1;")


@pytest.fixture(scope="module")
def new_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("formal")


@pytest.fixture
def no_memory(new_folder, monkeypatch):
    """Nothing is known but what these tests have run themselves."""
    monkeypatch.setattr(sby, "FOLDER", new_folder)


@pytest.fixture
def properties(tmp_path, monkeypatch):
    """A copy of the properties, which the tool reads instead."""
    folder = tmp_path / "formal"
    shutil.copytree(PROPERTIES, folder)
    monkeypatch.setattr(scripts, "PROPERTIES", folder)
    return folder


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(patch(path.read_text(), old, new, path.name))


def faulty_design(folder: Path) -> Design:
    """The design with an AMAX that reads a word too many."""
    shutil.copytree(RTL, folder / "rtl")
    edit(folder / "rtl" / FAULT[0], *FAULT[1:])
    return Design.load(folder / "rtl")


def prove(proof: Proof, design: Design | None = None, claim: Property | None = None) -> Checked:
    """Run proof and covers, and the mutant if a property is given."""
    design = design or own_design()
    runs = [
        sby.run(write_script(proof, task, design), proof.limit) for task in (Task.PROVE, Task.COVER)
    ]
    searched = write_script(proof, Task.SEARCH, design, claim) if claim else None
    mutant = sby.run(searched, proof.limit) if searched else None
    return Checked(proof, claim or proof.properties[0], runs[0], runs[1], mutant)


@pytest.mark.parametrize("proof", PROOFS.values(), ids=lambda proof: proof.name)
def test_every_mutant_applies_to_the_design_as_it_is(proof):
    plain = write_script(proof, Task.SEARCH, own_design())
    assert f"{proof.module}.sv" in plain.text
    for claim in proof.properties:
        mutant = write_script(proof, Task.SEARCH, own_design(), claim)
        changed = [name for name in plain.files if plain.files[name] != mutant.files[name]]
        assert changed == [claim.mutant.file]


@pytest.mark.parametrize("old", ["no such text", "assign"])
def test_a_mutant_that_does_not_apply_once_is_an_error(old):
    claim = Property("any", "any", Patch("ga2.sv", old, ""))
    with pytest.raises(PatchError, match="occurs"):
        write_script(PROOFS["chip"], Task.SEARCH, own_design(), claim)


def test_a_proof_reads_what_its_module_is_made_of():
    texts = scripts.readable(own_design())
    unit = {"ga2_amax.sv", "ga2_amax.svh", "ga2_formal.svh", "ga2_spec.sv", "ga2_word.sv"}
    assert set(needed("ga2_amax", texts)) == unit
    whole = [name for name in needed("ga2", texts) if name.endswith(".sv")]
    own = [path.name for path in own_design().sources.files]
    assert whole == [*own, "ga2_product.sv", "ga2_reference.sv", "ga2_spec.sv", "ga2_word.sv"]
    with pytest.raises(ScriptError, match="no file ga2_divider"):
        needed("ga2_divider", {"ga2.sv": ""})


def test_every_label_is_in_the_catalogue():
    claims = {claim.name for proof in PROOFS.values() for claim in proof.properties}
    covers = {cover for proof in PROOFS.values() for cover in proof.covers}
    assumed = set(catalogue().assumptions)
    for path in scripts.property_files():
        if path.name == scripts.MACROS:
            continue
        text = path.read_text()
        found = {
            kind: set(re.findall(rf"(\w+) : {kind} \(", text))
            | set(re.findall(rf"`GA2_(?:{macros})\((\w+),", text))
            for kind, macros in (
                ("assert", "ENSURE"),
                ("cover", "COVER"),
                ("assume", "ASSUME|REQUIRE"),
            )
        }
        assert found["assert"] <= claims | {"cycle_in_range"}, path.name
        assert found["cover"] <= covers, path.name
        assert found["assume"] <= assumed | SEARCHES, path.name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"covers": []}, "at least one property and one cover"),
        ({"covres": ["x"]}, "covres"),
        ({"assumes": ["nothing_known"]}, "nothing_known"),
    ],
)
def test_the_catalogue_is_checked(change, said):
    proof = {**msgspec.to_builtins(PROOFS["amax"]), "assumes": [], **change}
    with pytest.raises(msgspec.ValidationError, match=said):
        msgspec.convert({"assumptions": {}, "proofs": [proof]}, Catalogue)


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("sequencer", "unbounded"),
        ("product", "all inputs"),
        ("amax", "unbounded"),
        ("vadd_effect", "unbounded"),
    ],
)
def test_a_property_is_proved_and_fails_on_its_mutant(name, bound):
    proof = PROOFS[name]
    row = prove(proof, claim=proof.properties[0])
    assert (row.proved.status, row.proved.bound) == ("PASS", bound), row.proved.log
    assert row.passed, row.log
    assert row.claim.name in properties_table([row])
    assert all(name in assumptions_table([proof]) for name in proof.assumes)


def test_induction_asks_for_one_assertion_at_a_time():
    model = "; yosys-smt2-topmod m\n; yosys-smt2-assert 0 first\n; yosys-smt2-assert 1 second\n"
    text = questions(model, 1)
    assert text.count("(check-sat)") == 2
    assert all(f"(assert (not (|m_a {number}| s1)))" in text for number in (0, 1))
    assert "(assert (|m_a| s0))" in text


@pytest.mark.usefixtures("no_memory")
def test_the_whole_chip_fails_on_a_mutant():
    """There the units' requirements are left out, and their properties must still be read."""
    claim = next(each for each in PROOFS["chip"].properties if each.name == "retire_is_waiting")
    found = sby.run(write_script(PROOFS["chip"], Task.SEARCH, own_design(), claim), 900)
    assert claim.name in found.failed, found.log


@pytest.mark.usefixtures("no_memory")
def test_what_is_not_asserted_is_not_proved():
    row = prove(PROOFS["sequencer"])
    missing = msgspec.structs.replace(row.claim, name="nowhere_asserted")
    assert row.passed
    assert replace(row, claim=missing).verdict == "NOT ASSERTED"


@pytest.mark.usefixtures("no_memory")
def test_a_mutant_without_effect_is_not_noticed():
    harmless = Patch("ga2_sequencer.sv", "assign running =", "assign  running =")
    proof = PROOFS["sequencer"]
    row = prove(proof, claim=msgspec.structs.replace(proof.properties[0], mutant=harmless))
    assert row.verdict == "proved"
    assert not row.noticed
    assert "NOT NOTICED" in row.mutant_verdict


@pytest.mark.parametrize(
    ("file", "place", "text", "said"),
    [
        ("ga2_amax.svh", "assert (ren_q ==", "assume (0);", "amax.svh:39: 'assume' outside"),
        ("ga2_amax.svh", "assert (ren_q ==", "x : assume (!start);", "'assume' outside"),
        ("ga2_amax.svh", "assert (ren_q ==", "restrict (!start);", "'restrict' outside"),
        ("ga2_amax.svh", "assert (ren_q ==", "`GA2_ASSUME(x, !start)", "among helpers"),
        ("ga2.svh", "assert (f_mm_dma ==", "`GA2_REQUIRE(x, !start)", "among helpers"),
        ("ga2_load.svh", "`GA2_ENSURE(busy_time,", "assume (0);", "'assume' outside"),
        ("ga2_lemmas.sv", "lowest : cover", "assume (0);", "lemmas.sv:"),
    ],
)
def test_nothing_assumes_but_through_the_macros(file, place, text, said, properties):
    check_assumptions(own_design())
    edit(properties / file, place, f"{text} {place}")
    with pytest.raises(ScriptError, match=re.escape(said)):
        check_assumptions(own_design())


@pytest.mark.usefixtures("no_memory")
def test_an_assumption_that_is_not_declared_proves_nothing(properties, tmp_path):
    """The kind that the texts do not show: the model has it."""
    design = faulty_design(tmp_path)
    place = "`GA2_ENSURE(busy_time,"
    edit(properties / "ga2_amax.svh", place, f"`GA2_ASSUME(never_works, !start) {place}")
    proved = sby.run(write_script(PROOFS["amax"], Task.PROVE, design), 900)
    assert proved.status == "PASS"
    assert assumption_flaw(PROOFS["amax"], proved) == "ASSUMES never_works, NOT DECLARED"
    edit(properties / "ga2_amax.svh", "`GA2_ASSUME(never_works, !start)", "assume (!start);")
    proved = sby.run(write_script(PROOFS["amax"], Task.PROVE, design), 900)
    flaw = assumption_flaw(PROOFS["amax"], proved)
    assert re.fullmatch(r"ASSUMES ga2_amax\.svh:\d+, NOT DECLARED", flaw)
    row = Checked(PROOFS["amax"], PROOFS["amax"].properties[0], proved, proved, None)
    assert (row.verdict, row.passed) == (flaw, False)


@pytest.mark.usefixtures("no_memory")
@pytest.mark.parametrize("condition", ["0", "!start"])
def test_a_proof_whose_covers_are_out_of_reach_is_vacuous(condition, properties, tmp_path):
    design = faulty_design(tmp_path)
    plain = sby.run(write_script(PROOFS["amax"], Task.PROVE, design), 900)
    assert plain.status == "UNKNOWN"  # induction finds no proof
    head = "`GA2_REQUIRE(start_is_legal, "
    legal = "!start || (f_cycle == '0 && len != '0)"
    edit(properties / "ga2_amax.svh", f"{head}{legal})", f"{head}{condition})")
    row = prove(PROOFS["amax"], design)
    assert row.proved.status == "PASS"
    assert row.verdict.startswith("VACUOUS: again, one_word, reset_at_work, several_words")
    assert not row.passed


@pytest.mark.usefixtures("no_memory")
def test_a_verdict_is_kept_until_the_design_changes(monkeypatch):
    proof = PROOFS["product"]
    script = write_script(proof, Task.PROVE, own_design())
    first = sby.run(script, proof.limit)
    monkeypatch.setattr(sby, "_sby", lambda *_: pytest.fail("was run again"))
    assert sby.run(script, proof.limit) == first
    mutant = write_script(proof, Task.SEARCH, own_design(), proof.properties[0])
    assert sby.fingerprint(script) != sby.fingerprint(mutant)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "sim.formal", *map(str, arguments)]


def test_another_design_is_the_one_that_is_refuted_and_a_program_shows_it(tmp_path):
    design = faulty_design(tmp_path)
    done = subprocess.run(
        command("--modules", "amax", "--no-mutants", "--rtl", design.path),
        cwd=ROOT,
        env=tool_environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert f"again: make formal MODULES=amax RTL={design.path}" in done.stdout
    results = design.output("results")
    figures = json.loads((results / "formal.json").read_text())
    assert not figures["passed"]
    assert figures["design"]["hash"] == design.hash
    assert figures["properties"][0]["verdict"] == "REFUTED"
    assert 'failures="' in (results / "formal.xml").read_text()
    said = done.stdout.partition("ga2_amax: busy_time: REFUTED")[2].partition("FAIL")[0]
    (waves,) = re.findall(r"fails in cycle \d+ of (\S+\.vcd)\n", said)
    assert (ROOT / waves).stat().st_size
    assert {"start", "f_cycle", "done"} <= {line.split(" ")[0] for line in said.splitlines()}
    (shown,) = re.findall(r"in simulation: (make run .*)", said)
    played = subprocess.run(
        shlex.split(shown), cwd=ROOT, env=tool_environment(), capture_output=True, text=True
    )
    assert played.returncode, played.stdout
    assert re.search(r"\b7 \(6\)", played.stdout), played.stdout  # busy a cycle more
    shutil.rmtree(results.parent)


def test_what_is_only_not_inductive_leaves_the_step_that_goes_wrong(properties, tmp_path):
    """The design is right, the helpers are gone: no counterexample, but a trace."""
    path = properties / "ga2_store.svh"
    text = path.read_text()
    begin = text.index("`ifdef GA2_HELPERS")
    helpers = text[begin : text.index("`endif", begin)]
    path.write_text(text.replace(helpers, "`ifdef GA2_HELPERS\n"))
    proof, claim = PROOFS["store"], PROOFS["store"].properties[0]
    proved = sby.run(write_script(proof, Task.PROVE, own_design()), 900)
    search = sby.run(counterexample_script(proof, claim, own_design()), 900)
    assert (proved.status, search.status) == ("UNKNOWN", "PASS"), proved.log
    said = explain(proof, claim, own_design())
    assert said.startswith("no counterexample in 14 cycles; where induction fails"), said
    assert "f_cycle" in said
    assert "make run" not in said


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_nothing_goes_on_when_it_is_ended(ending, tmp_path):
    shutil.copytree(RTL, tmp_path / "rtl")
    with open(tmp_path / "rtl" / "ga2_divider.sv", "a") as file:
        file.write(f"// {uuid4()}\n")  # unknown so far
    running = subprocess.Popen(
        command("--modules", "divider", "--rtl", tmp_path / "rtl"),
        cwd=ROOT,
        env=tool_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    own = psutil.Process(running.pid)
    children: list[psutil.Process] = []
    until = time.monotonic() + 60
    while len(children) < 2 and time.monotonic() < until:
        children = own.children(recursive=True)
        time.sleep(0.05)
    assert len(children) >= 2
    begin = time.monotonic()
    running.send_signal(ending)
    _, errors = running.communicate(timeout=60)
    _, alive = psutil.wait_procs(children, timeout=10)
    assert not alive
    if ending is signal.SIGINT:
        assert time.monotonic() - begin < 5
        assert running.returncode == 130
        assert errors.split() == ["formal:", "interrupted"]
