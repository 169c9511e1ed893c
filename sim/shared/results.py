"""Result files for machines: JSON with all figures, JUnit XML for continuous integration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from junitparser import Failure, JUnitXml, TestCase, TestSuite


@dataclass(frozen=True)
class Verdict:
    """One line of a JUnit file.

    Attributes:
        name: what was checked.
        passed: whether it held.
        detail: the report of a failure; ignored when it passed.
        seconds: wall-clock time, when it is known.
    """

    name: str
    passed: bool
    detail: str = ""
    seconds: float = 0.0


def write_junit(path: Path, suites: Iterable[tuple[str, Iterable[Verdict]]]) -> None:
    """Write one test suite for each (name, verdicts), making the folder."""
    xml = JUnitXml()
    for suite_name, verdicts in suites:
        suite = TestSuite(suite_name)
        for verdict in verdicts:
            case = TestCase(verdict.name, classname=suite_name, time=verdict.seconds)
            if not verdict.passed:
                first_line = verdict.detail.split("\n", 1)[0]
                failure = Failure(first_line)
                failure.text = verdict.detail
                case.result = [failure]
            suite.add_testcase(case)
        xml.add_testsuite(suite)
    xml.update_statistics()
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.write(str(path), pretty=True)
