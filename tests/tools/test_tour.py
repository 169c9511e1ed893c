"""The tour's commands print what docs/tour.md says, on a copy of the project.

Numbers, paths and the blanks between columns may differ; ``...`` stands for any lines.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from sim.shared.paths import ROOT

TOUR = ROOT / "docs" / "tour.md"
PARTS = ("Makefile", "hw", "model", "sim", "verif", "requirements.txt")
ANY = "..."
# What differs from run to run: paths, hashes, lists of operands, numbers.
VARIES = (
    (r" VENV=\S+", ""),
    (r"\([0-9a-f]{16}\)", "()"),
    (r"\[[^\]]*\]", "[]"),
    (r"\S*/\S*", "/"),
    (r"-?\b(0x[0-9a-f]+|[\d,.]*\d)", "0"),
    (r"\s+", " "),
)
Command = tuple[str, list[str]]


def commands(text: str) -> list[Command]:
    """Commands of the console blocks, each with the lines that it is said to print."""
    found: list[Command] = []
    for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def plain(line: str) -> str:
    """A line without what differs from run to run."""
    for pattern, instead in VARIES:
        line = re.sub(pattern, instead, line)
    return line.strip()


def missing(expected: list[str], printed: list[str]) -> str | None:
    """The first expected line that was not printed in its place; None: all were."""
    rest = [plain(line) for line in printed]
    for line in (line for line in expected if line != ANY):
        if plain(line) not in rest:
            return line
        rest = rest[rest.index(plain(line)) + 1 :]
    return None


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what the tour needs, set up as the project is."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, tmp_path / part)
        else:
            shutil.copy(ROOT / part, tmp_path / part)
    if (ROOT / ".tools").exists():
        (tmp_path / ".tools").symlink_to(ROOT / ".tools")
    return tmp_path


def test_tour_prints_what_it_says(project: Path) -> None:
    # A busy machine may take longer to reduce the program than a reader's.
    env = os.environ | {"VENV": sys.prefix, "SHRINK": "200"}
    env.pop("MAKELEVEL", None)  # else make calls itself make[1]
    played = commands(TOUR.read_text())
    assert len(played) >= 8
    for command, expected in played:
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=project,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        line = missing(expected, done.stdout.splitlines())
        assert line is None, f"$ {command}\ndid not print: {line}\nbut:\n{done.stdout}"
        fails = any(line.startswith("make: ***") for line in expected)
        assert (done.returncode != 0) == fails, f"$ {command}\n{done.stdout}"


def test_lines_that_are_not_printed_are_noticed() -> None:
    (command, expected), second = commands("```console\n$ a b\nPASS  3 of 4\n...\nx\n$ c\n```\n")
    assert (command, expected, second) == ("a b", ["PASS  3 of 4", ANY, "x"], ("c", []))
    assert missing(expected, ["PASS  13 of  4", "more", "x"]) is None
    assert missing(expected, ["FAIL  13 of 4", "x"]) == "PASS  3 of 4"
    assert missing(expected, ["x", "PASS  13 of 4"]) == "x"
