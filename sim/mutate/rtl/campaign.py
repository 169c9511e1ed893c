"""The campaign, stage by stage: simulate, prove, look again, prove harder. Resumable throughout."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sim.engine.builds import build
from sim.mutate.common.finding import KILLED, OPEN, PROVEN, SURVIVED, Finding
from sim.mutate.common.stages import StageProgress
from sim.mutate.common.store import Store
from sim.mutate.rtl.equivalence import Proof, Prover
from sim.mutate.rtl.families import families_of, prove_family
from sim.mutate.rtl.mutant import Mutant
from sim.mutate.rtl.own_build import power_up_tests, run_programs, run_units
from sim.mutate.rtl.parallel import each
from sim.mutate.rtl.plan import Plan
from sim.mutate.rtl.runner import UNIT_MODULE, Runner
from sim.mutate.rtl.schema import MUTANTS, write
from sim.programs.units import TOP as UNIT_TOP
from sim.programs.units import build_units
from verif.mutation.protocol import UNIT_TESTS, MutantVerdict
from verif.mutation.test_ranking import TestRanking
from verif.mutation.unit_tests import units_for

FIRST_BUDGET = 200_000.0
"""Cost of the tests that a mutant gets before a proof is tried, in cycles."""


POWER_UP = "power-up"
"""Among the tests that a mutant survived: the runs in Icarus."""


@dataclass
class Campaign:
    """Judges the mutants of a plan.

    Attributes:
        plan: what to judge.
        store: what is known; every verdict goes there at once.
        folder: for the instrumented RTL and the simulations' files.
        workers: processes.
        progress: where to show it.
        times: seconds of each stage.
        sound: the design itself, instrumented, has passed every test.
    """

    plan: Plan
    store: Store
    folder: Path
    workers: int
    progress: StageProgress
    times: dict[str, float] = field(default_factory=dict)
    sound: bool = False

    def run(self, proofs: bool = True) -> None:
        """Run every stage on what the stages before left undecided."""
        self._timed("schema, first tests", lambda: self._simulate(FIRST_BUDGET))
        self._timed("own builds", self._text_mutants)
        if proofs:
            self._timed("families of proofs", self._prove_families)
        self._timed("schema, all tests", lambda: self._simulate(float("inf")))
        self._timed("power-up", self._power_up)
        self._timed("unit tests", self._unit_tests)
        if proofs:
            self._timed("proofs", self._prove)

    def _timed(self, stage: str, work: Callable[[], None]) -> None:
        began = time.monotonic()
        work()
        self.times[stage] = round(time.monotonic() - began, 1)

    def undecided(self, numbers: Iterable[int]) -> list[int]:
        """Return the numbers of mutants neither killed nor proven."""
        numbers, keys = list(numbers), self.plan.keys
        left = set(self.store.undecided(keys[number] for number in numbers))
        return [number for number in numbers if keys[number] in left]

    # ---- Simulation

    def _simulate(self, budget: float) -> None:
        schema = {n: mutant for n, mutant in self.plan.mutants.items() if mutant.schema}
        todo = self.undecided(schema)
        names = {test.name for test in self.plan.tests}
        passed = {n: self._survived(n) for n in todo}
        if budget < float("inf"):
            todo = [n for n in todo if not passed[n]]
        else:
            todo = [n for n in todo if names - set(passed[n])]
        if not todo:
            return
        with self.progress.stage("build of the instrumented design", 1) as stage:
            built = build("verilator", rtl=self._instrumented(schema))
            stage.advance("")
        title = "first tests" if budget < float("inf") else "all tests"
        with self.progress.stage(title, len(todo)) as stage:

            def take(verdict: MutantVerdict) -> None:
                if verdict.number:
                    self.store.add(self._finding("schema", verdict))
                    stage.advance("killed" if verdict.killed else "survived")

            runner = Runner(
                built, self.plan.files(), self.plan.tests, self.folder / "runs", take,
                workers=self.workers, budget=budget, survived=passed, history=self._history(),
            )  # fmt: skip
            runner.run(todo, judge_design=not self.sound)
            self.sound = True

    def _instrumented(self, schema: Mapping[int, Mutant]) -> Path:
        """Write the copy of the design that holds the mutants; return its folder."""
        copy = self.folder / "rtl"
        shutil.rmtree(copy, ignore_errors=True)
        write(copy, self.plan.texts, schema)
        return copy

    def _history(self) -> list[tuple[str, str]]:
        """Return file and test of every known kill."""
        return [
            (mutant.file, known.test)
            for number, mutant in self.plan.mutants.items()
            if (known := self.store.findings.get(self.plan.keys[number])) and known.test
        ]

    def _survived(self, number: int) -> tuple[str, ...]:
        known = self.store.findings.get(self.plan.keys[number])
        return known.survived if known else ()

    def _finding(self, stage: str, verdict: MutantVerdict) -> Finding:
        return Finding(
            self.plan.keys[verdict.number],
            KILLED if verdict.killed else SURVIVED,
            stage,
            verdict.checks,
            verdict.test,
            verdict.program,
            verdict.message,
            verdict.seconds,
            verdict.programs,
            verdict.survived,
        )

    # ---- Builds of their own

    def _text_mutants(self) -> None:
        todo = self.undecided(n for n, mutant in self.plan.mutants.items() if not mutant.schema)
        history = self._history()
        costs = {test.name: float(len(test.items)) for test in self.plan.tests if not test.slow}
        families = {test.name: test.family for test in self.plan.tests}
        series = {test.name: test for test in self.plan.tests}

        def run(number: int) -> MutantVerdict:
            ranking = TestRanking(costs, families=families, history=history)
            names = ranking.best_first(self.plan.mutants[number].file)
            return run_programs(self.plan.mutated(number), [series[name] for name in names])

        self._one_by_one("own build", todo, run)

    def _power_up(self) -> None:
        tests = power_up_tests(self.plan.tests)

        def run(number: int) -> MutantVerdict:
            return run_programs(self.plan.mutated(number), tests)

        self._one_by_one(POWER_UP, self._not_yet(POWER_UP), run)

    def _unit_tests(self) -> None:
        """Judge by the tests of the module that a mutant is in, all in one build of their bench."""
        schema = {n: mutant for n, mutant in self.plan.mutants.items() if mutant.schema}
        left = self._not_yet(UNIT_TESTS)
        todo = [n for n in left if n in schema and units_for(schema[n].file)]
        if todo:
            with self.progress.stage("build of the unit bench", 1) as stage:
                built = build_units("verilator", self._instrumented(schema), [MUTANTS])
                stage.advance("")
            with self.progress.stage(UNIT_TESTS, len(todo)) as stage:

                def take(verdict: MutantVerdict) -> None:
                    if verdict.number:
                        self.store.add(self._finding(UNIT_TESTS, verdict))
                        stage.advance("killed" if verdict.killed else "survived")

                Runner(
                    built, self.plan.files(), (), self.folder / "unit-runs", take,
                    workers=self.workers, module=UNIT_MODULE, top=UNIT_TOP,
                ).run(todo)  # fmt: skip

        def run(number: int) -> MutantVerdict:
            return run_units(self.plan.mutated(number), self.plan.mutants[number].file)

        self._one_by_one(UNIT_TESTS, [n for n in left if n not in schema], run)

    def _not_yet(self, stage: str) -> list[int]:
        """Return the undecided mutants that have not survived a stage."""
        todo = self.undecided(self.plan.mutants)
        return [number for number in todo if stage not in self._survived(number)]

    def _one_by_one(
        self, stage: str, todo: Sequence[int], run: Callable[[int], MutantVerdict]
    ) -> None:
        def judge(number: int) -> Finding:
            verdict = run(number)
            survived = () if verdict.killed else (stage,)
            return self._finding(stage, replace(verdict, number=number, survived=survived))

        self._parallel(stage, todo, judge)

    # ---- Proofs

    def _prove_families(self) -> None:
        """Prove many mutants of a file at a time, where nothing was tried yet."""
        known = self.store.findings
        todo = [
            number
            for number in self.undecided(self.plan.mutants)
            if not (found := known.get(self.plan.keys[number])) or not found.tried
        ]
        families = families_of({number: self.plan.mutants[number].file for number in todo})
        prover = Prover(self.plan.texts)

        def judge(place: int) -> list[Finding]:
            numbers = families[place]
            mutated = {number: self.plan.mutated(number) for number in numbers}
            proofs, tried = prove_family(prover, self.plan.mutants[numbers[0]].file, mutated)
            return [self._proof(n, proofs.get(n), tried.get(n, ()), SURVIVED) for n in numbers]

        if not todo:
            return
        with self.progress.stage("families of proofs", len(todo)) as stage:
            for _, findings in each(judge, range(len(families)), self.workers):
                for finding in findings:
                    self.store.add(finding)
                    stage.advance(finding.status)

    def _prove(self) -> None:
        """Prove one mutant at a time, in ever wider surroundings."""
        prover = Prover(self.plan.texts, limit=60.0)

        def judge(number: int) -> Finding:
            began = time.monotonic()
            proof, tried = prover.prove(self.plan.mutated(number))
            seconds = round(time.monotonic() - began, 2)
            return self._proof(number, proof, tried, OPEN, seconds)

        self._parallel("proofs", self.undecided(self.plan.mutants), judge)

    def _proof(
        self,
        number: int,
        proof: Proof | None,
        tried: Sequence[str],
        otherwise: str,
        seconds: float = 0.0,
    ) -> Finding:
        """Return what is known after a proof was tried; without one the status is ``otherwise``."""
        key = self.plan.keys[number]
        if proof is None:
            return Finding(key, otherwise, "proof", seconds=seconds, tried=tuple(tried))
        return Finding(
            key, PROVEN, "proof", seconds=seconds or proof.seconds, engine=proof.engine,
            scope=proof.scope, assumptions=proof.assumptions, tried=tuple(tried),
        )  # fmt: skip

    def _parallel(self, title: str, todo: Sequence[int], judge: Callable[[int], Finding]) -> None:
        """Judge mutants in threads, each of which waits for child processes."""
        if not todo:
            return
        with self.progress.stage(title, len(todo)) as stage:
            for _, finding in each(judge, todo, self.workers):
                self.store.add(finding)
                stage.advance(finding.status)
