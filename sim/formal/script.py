"""The script that sby gets for one run, with the files that the run needs, and nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sim.engine.design import Design
from sim.formal.proofs import PROPERTIES, Proof, Property

MACROS = "ga2_formal.svh"  # the only file that assumes
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
ASSUMING = re.compile(r"\b(?:assume|restrict)\b")
PACKAGE = re.compile(r"^package ", re.MULTILINE)
HELPERS = re.compile(r"`ifdef GA2_(?:CHIP_)?HELPERS\n.*?(?=\n`endif|\Z)", re.DOTALL)
ASSUMING_MACRO = re.compile(r"`GA2_(?:ASSUME|REQUIRE|ENSURE)\b")


class ScriptError(ValueError):
    """A proof that cannot be run as it is written; the message names file and line."""


class Task(Enum):
    """What a run of sby is for."""

    PROVE = "prove"
    COVER = "cover"
    SEARCH = "search"  # for a counterexample, on a mutant as a rule


@dataclass(frozen=True)
class Script:
    """Input of one run: sby's script, and every file by its name."""

    text: str
    files: dict[str, str]


def write_script(
    proof: Proof,
    task: Task,
    design: Design,
    claim: Property | None = None,
    *,
    mutated: bool = True,
) -> Script:
    """Write the script of one run; with ``claim`` it is about that property alone.

    ``mutated`` applies the property's mutant to the files.

    Raises:
        ScriptError: the design lacks the proof's module.
        PatchError: the mutant does not apply.
    """
    files = needed(proof.module, readable(design))
    if claim is not None and mutated:
        mutant = claim.mutant
        files[mutant.file] = mutant.apply(files.get(mutant.file, ""))
    defines = [*design.sources.defines, *proof.defines]
    if task is Task.SEARCH:
        defines += ["GA2_SEARCH", *(claim.defines if claim else ())]
    sources = [name for name in files if name.endswith((".sv", ".v"))]
    # What a module takes from a package must have been read before.
    sources.sort(key=lambda name: not PACKAGE.search(files[name]))
    lines = [
        "[options]",
        *_options(proof, task),
        "[engines]",
        proof.engine,
        "[script]",
        *(f"verilog_defines -D {define}" for define in defines),
        f"read -formal {' '.join(sources)}",
        f"hierarchy -check -top {proof.module}",
        "proc",
        *(f"cutpoint {cut}" for cut in proof.cuts),
        f"prep -flatten -top {proof.module}",
        *(
            # One mutant may break several: this one has to be seen.
            [f"chformal -assert -remove c:* c:{claim.name} c:*.{claim.name} %u %d"] if claim else []
        ),
        "[files]",
        *files,
    ]
    return Script("\n".join(lines) + "\n", files)


def _options(proof: Proof, task: Task) -> list[str]:
    if task is Task.PROVE and proof.induction:
        return ["mode prove", f"depth {proof.induction}"]
    if task is Task.PROVE:
        return ["mode bmc", "depth 1"]
    mode, depth = ("cover", proof.cover) if task is Task.COVER else ("bmc", proof.search)
    return [f"mode {mode}", f"depth {depth}", *([f"skip {proof.skip}"] if proof.skip else [])]


def readable(design: Design) -> dict[str, str]:
    """Texts of all files that a proof can read, by name: the design's in its order, properties."""
    paths = [*design.sources.files, *design.contents]
    texts = {path.name: design.contents[path].decode(errors="replace") for path in paths}
    for path in property_files():
        texts.setdefault(path.name, path.read_text(encoding="utf-8"))
    return texts


def property_files() -> list[Path]:
    """Everything in hw/formal that a proof can read."""
    return sorted(path for path in PROPERTIES.iterdir() if path.suffix in (".sv", ".svh"))


def needed(module: str, texts: dict[str, str]) -> dict[str, str]:
    """Those of ``texts`` that ``module`` is made of: what is named in it, directly or not.

    Raises:
        ScriptError: there is no file of that module.
    """
    homes = {Path(name).stem: name for name in texts if not name.endswith(".svh")}
    if module not in homes:
        raise ScriptError(f"the design has no file {module}.sv, which proofs are about")
    found, waiting = set(), [homes[module]]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        code = COMMENT.sub("", texts[name])
        waiting += [homes[word] for word in re.findall(r"\w+", code) if word in homes]
        waiting += [file for file in re.findall(r'`include\s*"([^"]+)"', code) if file in texts]
    return {name: text for name, text in texts.items() if name in found}


def check_assumptions(design: Design) -> None:
    """Refuse what assumes anywhere but through the macros, or does so among helpers.

    Raises:
        ScriptError: naming file and line.
    """
    for name, text in readable(design).items():
        if name == MACROS:
            continue
        # Comments go, lines stay.
        code = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
        if found := ASSUMING.search(code):
            where = f"{name}:{_line(code, found.start())}"
            raise ScriptError(
                f"{where}: '{found.group()}' outside {MACROS}: say GA2_ASSUME or GA2_REQUIRE, and "
                f"declare it in proofs.yaml"
            )
        for helpers in HELPERS.finditer(code):
            if found := ASSUMING_MACRO.search(code, *helpers.span()):
                where = f"{name}:{_line(code, found.start())}"
                raise ScriptError(f"{where}: {found.group()} among helpers, which never assume")


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
