"""Code coverage: reading, merging, exclusions, holes, and what is printed about them."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from coverage_samples import (
    A_BIT_2,
    POINTS,
    SOURCES,
    exclusions,
    measured,
    point,
    report,
    write_data,
)
from rich.console import Console

from sim.coverage.code import GOALS, grouped, read_sources
from sim.coverage.dat import CoverageDataError, Item, read_all, read_points
from sim.coverage.exclusions import (
    EXCLUSIONS_FILE,
    load_exclusions,
)
from sim.coverage.functional import FunctionalCoverage, PointCoverage
from sim.coverage.report import Report, print_report
from sim.engine.design import own_design
from sim.engine.play import Batch
from verif.plan import Point
from verif.typed import RecordError

CASE_LINE = '{files: [gate.sv], kind: line, source: "3\'d1:", reason: never}'
CASE_ARM = '{files: [gate.sv], kind: branch, source: "3\'d1:", what: case, reason: never}'


def test_points_become_lines_branches_expressions_and_toggles(tmp_path: Path) -> None:
    counts = read_points(write_data(tmp_path / "coverage.dat", POINTS))
    assert {i.line: n for i, n in counts.items() if i.kind == "line"} == {
        **{2: 9, 5: 9, 3: 4, 4: 5},
        **{6: 0, 7: 9},
    }
    assert {(i.line, i.what): n for i, n in counts.items() if i.kind == "branch"} == {
        **{(3, "if"): 4, (3, "else"): 5},
        **{(6, "case"): 0, (7, "case"): 9},
    }
    assert counts[Item("gate.sv", 3, "expression", "(a[0]==0) => 0", 9)] == 0
    assert counts[Item("gate.sv", 1, "toggle", "a[1]:1->0")] == 3


def test_ranges_of_lines_are_spelled_out(tmp_path: Path) -> None:
    path = write_data(tmp_path / "a.dat", [point(4, 1, "line", "block", 2, "4-6,9")])
    assert sorted(item.line for item in read_points(path)) == [4, 5, 6, 9]


def test_a_line_ran_when_any_part_of_it_did(tmp_path: Path) -> None:
    parts = [point(3, 5, "branch", "if", 4, "3"), point(3, 20, "branch", "cond_then", 0, "3")]
    counts = read_points(write_data(tmp_path / "a.dat", parts))
    assert counts[Item("gate.sv", 3, "line")] == 4
    assert counts[Item("gate.sv", 3, "branch", "cond_then", 20)] == 0


def test_runs_and_instances_add_up(tmp_path: Path) -> None:
    first = [point(1, 9, "toggle", "q:0->1", 2), point(3, 5, "branch", "if", 0, "3")]
    second = [
        point(1, 9, "toggle", "q:0->1", 5, hierarchy="top.u_b", file="/elsewhere/gate.sv"),
        point(3, 5, "branch", "if", 1, "3"),
    ]
    paths = [write_data(tmp_path / f"{n}.dat", data) for n, data in enumerate((first, second))]
    counts = read_all(paths)
    assert counts[Item("gate.sv", 1, "toggle", "q:0->1")] == 7
    assert counts[Item("gate.sv", 3, "branch", "if", 5)] == 1
    assert counts[Item("gate.sv", 3, "line")] == 1
    assert len(counts) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line # SystemC::Coverage"),
        ("something else\n", "no line # SystemC::Coverage"),
        ("# SystemC::Coverage-3\nhello\n", "line 2.*no point"),
        ("# SystemC::Coverage-3\n" + point(1, 1, "cover", "x", 1), "type 'cover'"),
        ("# SystemC::Coverage-3\nC '\x01f\x02a.sv' 1\n", "line 2.*'l'"),
        ("# SystemC::Coverage-3\n" + point(1, 1, "toggle", "x", 1)[:-3], "line 2"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "coverage.dat"
    path.write_text(text)
    with pytest.raises(CoverageDataError, match=message):
        read_points(path)


def test_nothing_to_read_is_an_error() -> None:
    with pytest.raises(CoverageDataError, match="no coverage data"):
        read_all([])


@pytest.mark.parametrize(
    ("stray", "message"),
    [
        (point(1, 1, "toggle", "x:0->1", 1, file="/a/other.sv"), "nothing of the design"),
        (point(99, 1, "toggle", "x:0->1", 1), "another version of gate.sv"),
    ],
)
def test_data_of_other_sources_are_refused(tmp_path: Path, stray: str, message: str) -> None:
    with pytest.raises(CoverageDataError, match=message):
        measured(tmp_path, A_BIT_2, points=[stray])


def test_figures_count_what_there_is(tmp_path: Path) -> None:
    code = measured(tmp_path)
    totals = {kind: (code.total(kind).hit, code.total(kind).total) for kind in GOALS}
    assert totals == {"line": (5, 6), "branch": (3, 4), "toggle": (6, 8)}
    assert code.total("expression").percent == 50.0
    assert [line.split()[0] for line in code.missed] == ["line", "branch", "toggle"]


def test_holes_are_named_with_place_and_source(tmp_path: Path) -> None:
    code = measured(tmp_path)
    holes = [(item.line, item.kind, what) for item, what in grouped(code.holes())]
    assert holes == [
        (3, "expression", "(a[0]==0) => 0"),
        (6, "branch", "case"),
        (6, "line", ""),
        (1, "toggle", "a[2] 0->1, 1->0"),
    ]
    assert code.source(code.holes("line")[0]) == "3'd1: q <= 3'd2;"


def test_bits_are_put_together() -> None:
    def toggles(*bits: int, edge: str) -> list[Item]:
        return [Item("a.sv", 5, "toggle", f"sum[{bit}]:{edge}") for bit in bits]

    one_bit = Item("a.sv", 6, "toggle", "done:1->0")
    holes = [*toggles(0, 7, 2, 3, edge="0->1"), *toggles(1, edge="1->0"), one_bit]
    texts = [what for _, what in grouped(holes)]
    assert texts == ["sum[7,3:2,0] 0->1; sum[1] 1->0", "done 1->0"]


def test_what_is_excluded_counts_nowhere(tmp_path: Path) -> None:
    code = measured(tmp_path, A_BIT_2, CASE_LINE, CASE_ARM)
    assert code.problems == []
    assert code.missed == []
    assert [item.kind for item in code.holes()] == ["expression"]
    assert (code.total("toggle").total, code.total("toggle").excluded) == (6, 2)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (A_BIT_2.replace("a[2]", "a[2:1]"), "was covered, gate.sv:1 a[1]:0->1 3 times and 1 more"),
        (A_BIT_2.replace("a[2]", "clk:1->0"), "was covered, gate.sv:1 clk:1->0 18 times"),
        (A_BIT_2.replace("a[2]", "b[2]"), "toggle b[2] is nowhere in the source"),
        (A_BIT_2.replace('"a[2]"', '"a[2]", "b"'), "no signal b"),
        (A_BIT_2.replace("gate.sv", "other.sv"), "is nowhere in the source"),
        (CASE_LINE.replace("3'd1", "3'd5"), "is nowhere in the source"),
        (CASE_LINE.replace("3'd1:", "default"), "was covered, gate.sv:7  9 times"),
        (CASE_ARM.replace("what: case", "what: if"), "is nowhere in the source"),
    ],
)
def test_an_exclusion_must_still_be_needed(tmp_path: Path, entry: str, said: str) -> None:
    problems = measured(tmp_path, entry).problems
    assert len(problems) == 1
    assert problems[0].startswith("exclusion no longer needed: ")
    assert said in problems[0]


def test_covered_bits_of_a_wrong_exclusion_still_count(tmp_path: Path) -> None:
    code = measured(tmp_path, A_BIT_2.replace("a[2]", "a"))
    assert (code.total("toggle").hit, code.total("toggle").total) == (6, 6)
    assert code.total("toggle").excluded == 2


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            "{files: [gate.sv], kind: toggle, signals: [a]}",
            "exclusion 1: missing required field reason",
        ),
        ("{kind: toggle, signals: [a], reason: x}", "missing required field files"),
        ("{files: [gate.sv], kind: lines, source: a, reason: x}", "kind 'lines' is none of"),
        ("{files: [gate.sv], kind: toggle, source: a, reason: x}", "selected by signals"),
        ("{files: [gate.sv], kind: line, signals: [a], reason: x}", "only they"),
        ("{files: [gate.sv], kind: line, reason: x}", "by a piece of the source"),
        ("{files: [gate.sv], kind: toggle, signals: ['a[1'], reason: x}", "'a\\[1' is no signal"),
        (
            "{files: [gate.sv], kind: line, source: a, because: x, reason: x}",
            "unknown key .because.",
        ),
    ],
)
def test_exclusions_of_another_form_are_refused(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        load_exclusions(exclusions(tmp_path, entry))


def test_the_exclusions_name_what_is_in_the_design() -> None:
    sources = read_sources(own_design())
    for exclusion in load_exclusions(EXCLUSIONS_FILE):
        texts = ["\n".join(sources[file]) for file in exclusion.files]
        if exclusion.source:
            assert all(exclusion.source in text for text in texts), exclusion
        for signal in exclusion.signals:
            assert any(re.search(rf"\b{signal.name}\b", text) for text in texts), exclusion


def test_a_report_without_holes_has_no_problems(tmp_path: Path) -> None:
    assert report(measured(tmp_path, A_BIT_2, CASE_LINE, CASE_ARM)).problems == []


def test_each_goal_missed_is_a_problem(tmp_path: Path) -> None:
    made = report(measured(tmp_path), holes=True, failed=True)
    assert [re.split(r" \d+\.", text)[0] for text in made.problems] == [
        "1 programs failed; they cover nothing",
        "functional coverage",
        "line coverage",
        "branch coverage",
        "toggle coverage",
    ]


def test_a_refuted_exception_of_the_plan_is_a_problem() -> None:
    planned = Point("length", "", ("one",), {"three": "cannot be"})
    refuted = FunctionalCoverage({"length": PointCoverage(planned, {"one": 1}, {"three": 2})})
    assert Report(Batch([]), refuted, {}, None).problems == [
        "exception no longer needed: length three was hit by 2 programs"
    ]


def test_the_figures_for_machines(tmp_path: Path) -> None:
    data = report(measured(tmp_path, A_BIT_2), holes=True).to_json()
    assert data["passed"] is False
    length = data["functional"]["points"]["length"]
    assert (length["bins"], length["hit"], length["holes"]) == (2, 1, ["two<&"])
    assert data["functional"]["simulators"] == {"icarus": 50.0}
    assert data["code"]["kinds"]["line"] == {
        **{"total": 6, "hit": 5, "excluded": 0},
        **{"percent": 83.33, "goal": 100.0},
    }
    holes = data["code"]["files"]["gate.sv"]["holes"]
    assert {"line": 6, "kind": "line", "what": "", "text": "3'd1: q <= 3'd2;"} in holes
    assert data["code"]["exclusions"][0]["items"] == 2


def test_the_text_names_every_hole(tmp_path: Path) -> None:
    out = StringIO()
    console = Console(file=out, width=200, highlight=False)
    print_report(console, report(measured(tmp_path, A_BIT_2), holes=True))
    text = out.getvalue()
    assert "hole  length: two<&" in text
    assert "hole  gate.sv:6  branch  case  | 3'd1: q <= 3'd2;" in text
    assert "gate.sv" in text
    assert "a[2]" not in text


def test_every_line_has_its_count_and_what_is_left_out_in_it(tmp_path: Path) -> None:
    lines = measured(tmp_path, A_BIT_2).annotated("gate.sv")
    assert [line["text"] for line in lines] == SOURCES["gate.sv"]
    assert lines[1] == {"text": SOURCES["gate.sv"][1], "count": 9}
    assert lines[5]["count"] == 0
    assert lines[0]["left_out"] == ["toggle a[2] 0->1, 1->0: tied"]
