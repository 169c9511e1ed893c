"""JUnit XML, for the pages of CI systems: all of it is written and read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import junitparser

from sim.shared.files import write_text
from sim.shared.outcome import Outcome

# What XML 1.0 cannot hold, not even escaped: control characters, surrogates, two non-characters.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ERRORS = {outcome.value: outcome for outcome in Outcome if outcome.bad and not outcome.finished}
_ELEMENTS = {Outcome.FAILED: junitparser.Failure, Outcome.SKIPPED: junitparser.Skipped}


class JunitError(ValueError):
    """A file that is no JUnit XML; the message names it."""


@dataclass(frozen=True)
class Case:
    """One test case.

    Attributes:
        name: what was checked.
        outcome: how it ended.
        detail: why it did not pass; the first line is the message. Ignored when it passed.
        seconds: wall-clock time, when it is known.
        classname: what it belongs to; the suite's name when empty.
        kind: of the failure, e.g. ``memory``; the outcome's name when empty.
        properties: more about it.
    """

    name: str
    outcome: Outcome
    detail: str = ""
    seconds: float = 0.0
    classname: str = ""
    kind: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """Test cases under one name."""

    name: str
    cases: Sequence[Case]
    properties: Mapping[str, Any] = field(default_factory=dict)


def clean(text: str) -> str:
    r"""Return text that XML can hold: what it cannot is shown as an escape.

    >>> clean("a \x1b[31mred\x1b[0m word")
    'a \\x1b[31mred\\x1b[0m word'
    """
    return _FORBIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def write(path: Path, suites: Iterable[Suite], name: str = "") -> None:
    """Replace a file in one step by these suites.

    Raises:
        OSError: it cannot be written; ``filename`` is ``path``.
    """
    xml = junitparser.JUnitXml(clean(name) or None)
    for suite in suites:
        element = junitparser.TestSuite(clean(suite.name))
        for key, value in suite.properties.items():
            element.add_property(clean(key), clean(str(value)))
        element.extend([_case(case, suite.name) for case in suite.cases])
        xml.append(element)
    # Once for all: adding a case at a time would count all of them each time.
    xml.update_statistics()
    junitparser.junitparser.etree.indent(xml._elem)
    text = xml.tostring().decode()
    write_text(path, text if text.startswith("<?xml") else f"<?xml version='1.0'?>\n{text}\n")


def _case(case: Case, suite: str) -> Any:
    element = junitparser.TestCase(clean(case.name), classname=clean(case.classname or suite))
    element.time = round(case.seconds, 6)
    if case.properties:
        properties = junitparser.Properties()
        for key, value in case.properties.items():
            properties.add_property(junitparser.Property(clean(key), clean(str(value))))
        element.append(properties)
    if case.outcome is not Outcome.PASSED:
        message = clean(case.detail.split("\n", 1)[0])
        result = _ELEMENTS.get(case.outcome, junitparser.Error)(message)
        result.type = clean(case.kind or case.outcome)
        result.text = clean(case.detail)
        element.append(result)
    return element


def read(path: Path) -> list[Case]:
    """Return the cases of a file, whoever wrote it; none when there is no file.

    Raises:
        JunitError: it is no JUnit XML, or torn.
    """
    if not path.exists():
        return []
    try:
        xml = junitparser.JUnitXml.fromfile(str(path))
    except (ParseError, junitparser.JUnitXmlError, UnicodeDecodeError) as error:
        raise JunitError(f"{path}: not JUnit XML: {error}") from None
    suites = [xml] if isinstance(xml, junitparser.TestSuite) else list(xml)
    return [_read_case(case) for suite in suites for case in suite]


def _read_case(case: Any) -> Case:
    outcome, detail, kind = Outcome.PASSED, "", ""
    for result in case.result:
        if isinstance(result, junitparser.Skipped):
            found = Outcome.SKIPPED
        elif isinstance(result, junitparser.Failure):
            found = Outcome.FAILED
        else:
            found = _ERRORS.get(result.type, Outcome.ERROR)
        if not outcome.bad:
            outcome, kind = found, result.type or ""
            message, text = (result.message or "").strip(), (result.text or "").strip()
            detail = text if text.startswith(message) else f"{message}\n{text}".strip()
    return Case(case.name or "", outcome, detail, case.time or 0.0, case.classname or "", kind)
