"""The campaign: proof by proof, does a property fail on the mutant? Resumable throughout."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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

OUTSIDE = "outside"  # the proof cuts the mutant's file away
Judge = Callable[[int], Finding]


@dataclass
class Campaign:
    """Asks the proofs about the mutants of a plan.

    A finding's ``survived`` are proofs that were searched in vain or cannot see the mutant, its
    ``tried`` those that do not go through any more, its ``seconds`` those of all questions.

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
        """Search, the likeliest proof for all mutants first; then see what is still proved."""
        rounds = max((len(self._proofs(number)) for number in self.numbers), default=0)
        for place in range(rounds):
            began = time.monotonic()
            self._search(place)
            self.times[f"search {place + 1}"] = round(time.monotonic() - began, 1)
        began = time.monotonic()
        found = {number: self._known(number) for number in self.numbers}
        todo = [n for n, f in found.items() if f.status == OPEN and f.stage != "induction"]
        self._stage("what is still proved", todo, self._prove)
        self.times["proofs"] = round(time.monotonic() - began, 1)

    def _proofs(self, number: int) -> list[Proof]:
        return self.scopes.of(self.plan.mutants[number].file)

    def _known(self, number: int) -> Finding:
        key = self.plan.keys[number]
        return self.store.findings.get(key) or Finding(key, OPEN)

    def _search(self, place: int) -> None:
        todo = {}
        for number in self.numbers:
            known, proofs = self._known(number), self._proofs(number)
            if known.status != OPEN or place >= len(proofs):
                continue
            if proofs[place].name not in known.survived:
                todo[number] = proofs[place]
        # Side by side what shares a model.
        order = sorted(todo, key=lambda n: (todo[n].name, self.plan.mutants[n].file))
        self._stage(f"search, proof {place + 1} of each", order, lambda n: self._one(n, todo[n]))

    def _stage(self, title: str, todo: Sequence[int], judge: Judge) -> None:
        if not todo:
            return
        with self.progress.stage(title, len(todo)) as stage:
            for _, finding in each(judge, todo, self.workers):
                self.store.add(finding)
                stage.advance(
                    {KILLED: "refuted", SURVIVED: "still proved"}.get(finding.status, OPEN)
                )

    def _one(self, number: int, proof: Proof) -> Finding:
        key = self.plan.keys[number]
        answer = self._ask(number, proof, Task.SEARCH)
        spent = round(self._known(number).seconds + answer.seconds, 2)
        if answer.status == REFUTED:
            return Finding(key, KILLED, "search", answer.failed, seconds=spent, engine=proof.name)
        # A time limit met, perhaps because the machine was busy, is no verdict: it is asked again.
        vain = () if answer.status == UNKNOWN else (proof.name,)
        return Finding(key, OPEN, "search", seconds=spent, survived=vain)

    def _prove(self, number: int) -> Finding:
        """All proofs that see the mutant go through: no property notices it."""
        key, spent = self.plan.keys[number], self._known(number).seconds
        for proof in self._proofs(number):
            answer = self._ask(number, proof, Task.PROVE)
            spent = round(spent + answer.seconds, 2)
            named = all("." not in label for label in answer.failed)  # no helper
            if answer.status == REFUTED and named:
                return Finding(
                    key, KILLED, "base case", answer.failed, seconds=spent, engine=proof.name
                )
            if answer.status not in (PASSED, OUTSIDE):
                return Finding(key, OPEN, "induction", seconds=spent, tried=(proof.name,))
        return Finding(key, SURVIVED, "induction", seconds=spent)

    def _ask(self, number: int, proof: Proof, task: Task) -> Answer:
        model = self._model(number, proof, task)
        if not model.inside:
            return Answer(OUTSIDE, (), 0.0)
        ask = search if task is Task.SEARCH else still_proved
        return ask(model.awake(number), proof)

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
