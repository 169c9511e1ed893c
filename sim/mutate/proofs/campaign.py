"""The campaign: proof by proof, does a property fail on the mutant? Resumable throughout."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sim.formal.proofs import Proof
from sim.formal.script import Task, write_script
from sim.mutate.common.finding import KILLED, OPEN, SURVIVED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.proofs.model import Model, make_model
from sim.mutate.proofs.scope import Scopes
from sim.mutate.proofs.solve import PASSED, REFUTED, UNKNOWN, Answer, search, still_proved
from sim.mutate.rtl.parallel import each
from sim.mutate.rtl.plan import Plan

SOON, LIMIT = 5.0, 120.0  # seconds of one question
OUTSIDE = "outside"  # the proof cuts the mutant's file away
FATES = {KILLED: "refuted", SURVIVED: "still proved", OPEN: OPEN}


@dataclass
class Campaign:
    """Asks the proofs about the mutants of a plan.

    Of a mutant each proof is asked whether it still goes through. One that does not is searched for
    a run of the design in which a property fails. A finding's ``survived`` are the proofs that go
    through or cannot see the mutant, its ``tried`` those that do not and were searched in vain, its
    ``checks`` what fails, its ``seconds`` those of all questions.

    Attributes:
        plan, scopes: mutants and proofs.
        store: what is known; every verdict goes there at once.
        numbers: of the mutants to ask about.
        workers: processes.
        progress: where to show it.
    """

    plan: Plan
    scopes: Scopes
    store: Store
    numbers: Sequence[int]
    workers: int
    progress: StageProgress
    times: dict[str, float] = field(default_factory=dict)
    _models: dict[tuple[str, Task, int | str], Model] = field(default_factory=dict)
    _locks: defaultdict[tuple[str, Task, int | str], threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    def run(self) -> None:
        """Ask, the likeliest proof of all mutants first."""
        rounds = max((len(self._proofs(number)) for number in self.numbers), default=0)
        for place in range(rounds):
            began = time.monotonic()
            self._round(place)
            self.times[f"proof {place + 1} of each"] = round(time.monotonic() - began, 1)

    def _proofs(self, number: int) -> list[Proof]:
        return self.scopes.of(self.plan.mutants[number].file)

    def _known(self, number: int) -> Finding:
        key = self.plan.keys[number]
        return self.store.findings.get(key) or Finding(key, OPEN)

    def _round(self, place: int) -> None:
        todo = {}
        for number in self.numbers:
            known, proofs = self._known(number), self._proofs(number)
            if known.status != OPEN or place >= len(proofs):
                continue
            if proofs[place].name not in (*known.survived, *known.tried):
                todo[number] = proofs[place]
        if not todo:
            return
        # Side by side what shares a model.
        order = sorted(todo, key=lambda n: (todo[n].name, self.plan.mutants[n].file))
        with self.progress.stage(f"proof {place + 1} of each", len(order)) as stage:
            for _, finding in each(lambda n: self._judge(n, todo[n]), order, self.workers):
                self.store.add(finding)
                stage.advance(FATES[finding.status])

    def _judge(self, number: int, proof: Proof) -> Finding:
        """Look for a run for a short time, then whether there can be one, then for longer."""
        known = self._known(number)
        soon = self._ask(number, proof, Task.SEARCH, SOON)
        found = Finding(known.key, OPEN, "search", seconds=round(known.seconds + soon.seconds, 2))
        if soon.status == REFUTED:
            return replace(found, status=KILLED, checks=soon.failed, engine=proof.name)
        proved = self._ask(number, proof, Task.PROVE, LIMIT)
        found = replace(found, stage="proof", seconds=round(found.seconds + proved.seconds, 2))
        if proved.status in (PASSED, OUTSIDE):
            passed = {*known.survived, proof.name}
            through = all(each.name in passed for each in self._proofs(number))
            status = SURVIVED if through else OPEN
            return replace(found, status=status, checks=known.checks, survived=(proof.name,))
        named = all("." not in label for label in proved.failed)  # no helper
        if proved.status == REFUTED and named:
            return replace(found, status=KILLED, checks=proved.failed, engine=proof.name)
        late = soon if soon.status == PASSED else self._ask(number, proof, Task.SEARCH, LIMIT)
        found = replace(found, stage="search", seconds=round(found.seconds + late.seconds, 2))
        if late.status == REFUTED:
            return replace(found, status=KILLED, checks=late.failed, engine=proof.name)
        # A time limit met, perhaps because the machine was busy, is no verdict: it is asked again.
        unlimited = UNKNOWN not in (proved.status, late.status)
        failing = tuple(dict.fromkeys((*known.checks, *proved.failed)))
        return replace(found, checks=failing, tried=(proof.name,) if unlimited else ())

    def _ask(self, number: int, proof: Proof, task: Task, limit: float) -> Answer:
        model = self._model(number, proof, task)
        if not model.inside:
            return Answer(OUTSIDE, (), 0.0)
        ask = search if task is Task.SEARCH else still_proved
        return ask(model.awake(number), proof, limit)

    def _model(self, number: int, proof: Proof, task: Task) -> Model:
        mutant = self.plan.mutants[number]
        key = (proof.name, task, mutant.file if mutant.schema else number)
        with self._locks[key]:
            if key not in self._models:
                mutants = {
                    n: self.plan.mutants[n]
                    for n in self.numbers
                    if self.plan.mutants[n].file == mutant.file and self.plan.mutants[n].schema
                } if mutant.schema else {number: mutant}  # fmt: skip
                script = write_script(proof, task, self.plan.design)
                self._models[key] = make_model(script, self.plan.texts, mutant.file, mutants)
            return self._models[key]
