"""Section: the test plan, feature by feature, with the last outcome of its tests."""

from __future__ import annotations

from sim.plan.__main__ import Status, existing_tests, problems, status, tests_of
from sim.report.page import (
    DASH,
    Block,
    Cell,
    Fold,
    Section,
    State,
    Table,
    Text,
    count,
    missing,
    percent,
)
from sim.report.sources import Sources
from sim.shared.test_log import last_runs
from verif.plan import load_plan
from verif.typed import RecordError

ID, TITLE = "testplan", "Test plan"
LEAD = (
    "Every feature of the ISA reference has tests and coverage points. A feature holds when the "
    "last run of every one of its tests passed; a test that never ran holds nothing."
)
COMMAND = "make test directed random regress"


def section(sources: Sources) -> Section:
    """Return the section of the test plan."""
    runs = last_runs(sources.results, sources.design.hash if sources.design else "")
    if not runs:
        return missing(ID, TITLE, LEAD, "No test of the plan has run yet.", COMMAND)
    try:
        plan = load_plan()
    except RecordError as error:
        problem = "the test plan cannot be read"
        return Section(ID, TITLE, "bad", DASH, problem, LEAD, [Text(str(error), "bad")], problem)
    tests = existing_tests()
    rows = {
        name: status(tests_of(feature, tests), runs, []) for name, feature in plan.features.items()
    }
    failed = [name for name, row in rows.items() if row.failed]
    held = [name for name, row in rows.items() if row.passed and not (row.failed or row.not_run)]
    wrong = problems(plan, tests)
    state: State = "bad" if failed else "good" if len(held) == len(rows) and not wrong else "warn"
    blocks: list[Block] = []
    if wrong:
        table = Table(("what is wrong with the plan itself",), [(line,) for line in wrong], "<")
        blocks.append(Fold(f"The plan has {count(len(wrong), 'gap')}", [table]))
    areas: dict[str, list[str]] = {}
    for name in rows:
        areas.setdefault(name.split(".")[0], []).append(name)
    blocks.append(area_table(areas, rows))
    for area, names in areas.items():
        bad = sum(bool(rows[name].failed) for name in names)
        note = f", {bad} failed" if bad else ""
        about = {name: plan.features[name].about for name in names}
        table = feature_table({name: rows[name] for name in names}, about)
        blocks.append(Fold(f"{area}: {count(len(names), 'feature')}{note}", [table]))
    problem = ""
    if failed:
        problem = f"tests of {count(len(failed), 'feature')} failed"
    elif len(held) < len(rows):
        problem = f"tests of {count(len(rows) - len(held), 'feature')} did not run"
    elif wrong:
        problem = f"the test plan has {count(len(wrong), 'gap')}"
    figure = percent(100 * len(held) / max(1, len(rows)), 0)
    note = f"{len(held):,} of {count(len(rows), 'feature')} hold"
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem)


def area_table(areas: dict[str, list[str]], rows: dict[str, Status]) -> Table:
    """Return one row an area of the plan: features and tests by outcome."""
    lines = []
    for area, names in areas.items():
        of_area = [rows[name] for name in names]
        held = sum(bool(row.passed) and not (row.failed or row.not_run) for row in of_area)
        passed = {test for row in of_area for test in row.passed}
        failed = {test for row in of_area for test in row.failed}
        open_ = {test for row in of_area for test in row.not_run}
        share = 100 * held / len(names)
        lines.append(
            (
                area,
                Cell(f"{held} of {len(names)}", bar=share),
                f"{len(passed):,}",
                Cell(f"{len(failed):,}", "bad" if failed else "soft"),
                Cell(f"{len(open_):,}", "warn" if open_ else "soft"),
            )
        )
    head = ("area", "features that hold", "tests passed", "failed", "not run")
    return Table(head, lines, "<>>>>")


def feature_table(rows: dict[str, Status], about: dict[str, str]) -> Table:
    """Return one row a feature."""
    lines = []
    for name, row in rows.items():
        worst, word = ("bad", "failed") if row.failed else ("good", "holds")
        if not row.failed and (row.not_run or not row.passed):
            worst, word = "warn", "not run"
        which = ", ".join(row.failed or row.not_run)
        lines.append(
            (
                Cell(name, "mono"),
                Cell(word, worst),
                about[name],
                str(len(row.passed) + len(row.failed) + len(row.not_run)),
                Cell(which, "soft"),
            )
        )
    return Table(
        ("feature", "verdict", "what it promises", "tests", "failed or not run"), lines, "<<<><"
    )
