"""What a solver gets: a proof's module as SMT-LIB, in it all mutants of one file, one awake.

Yosys reads the instrumented file once a proof. Which mutant is alive is a constant without a value
there; each question gives it one.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sim.engine.yosys import run_yosys
from sim.formal.script import Script
from sim.mutate.rtl.mutant import Mutant, apply_edits
from sim.mutate.rtl.schema import instrument

SELECTOR = "ga2_mutant_id"
DECLARED = re.compile(
    r"^\(declare-fun \|([^|]*)\| \(\|([^|]*)\|\) \(_ BitVec 32\)\) ; \S*" + SELECTOR + r"$",
    re.MULTILINE,
)
HEADER = re.compile(r"\nmodule\s+\w+.*?\);\n", re.DOTALL)

# What sby does between its script and the solver, without covers.
PREPARE = """\
hierarchy -smtcheck
scc -select; simplemap; select -clear
memory_nordff
async2sync
chformal -assume -early
opt_clean
formalff -setundef -clk2ff -ff2anyinit -hierarchy
chformal -live -fair -cover -remove
opt_clean
check
setundef -undriven -anyseq
opt -fast
rename -witness
opt_clean
formalff -assume
dffunmap
write_smt2 -wires model.smt2"""


@dataclass(frozen=True)
class Model:
    """SMT-LIB text of a module in which mutants sleep.

    Attributes:
        text: of the model.
        inside: whether the mutants are in it; a proof may cut their file away.
    """

    text: str
    inside: bool

    def awake(self, number: int) -> str:
        """Return the model with one mutant alive; 0 is the design."""
        value = f"(define-fun |\\1| ((state |\\2|)) (_ BitVec 32) #x{number:08x})"
        return DECLARED.sub(value, self.text)


def make_model(
    script: Script, texts: Mapping[str, str], file: str, mutants: Mapping[int, Mutant]
) -> Model:
    """Have Yosys write the model of a proof's script.

    Args:
        script: of sby, whose Yosys commands are run.
        texts: the design's files as the mutants' edits count them.
        file: the one that all ``mutants`` change. A single one that cannot be switched is built in.

    Raises:
        YosysError: the design does not go through.
    """
    if all(mutant.schema for mutant in mutants.values()):
        changed = _with_selector(instrument({file: texts[file]}, mutants, SELECTOR)[file])
    else:
        (mutant,) = mutants.values()
        changed = apply_edits(texts, mutant.edits)[file]
    commands = script.text.partition("[script]\n")[2].partition("[files]\n")[0].splitlines()
    with tempfile.TemporaryDirectory(prefix="ga2-mutate-") as name:
        folder = Path(name)
        for each, text in {**script.files, file: changed}.items():
            (folder / each).write_text(text, encoding="utf-8")
        run_yosys([*commands, *PREPARE.splitlines()], folder, "model")
        model = Model((folder / "model.smt2").read_text(), True)
    built_in = SELECTOR not in changed
    return replace(model, inside=built_in or bool(DECLARED.search(model.text)))


def _with_selector(text: str) -> str:
    found = HEADER.search(text)
    if found is None:
        raise ValueError("a file without a module has no mutants that can be switched")
    return f"{text[: found.end()]}  (* anyconst *) logic [31:0] {SELECTOR};\n{text[found.end() :]}"
