"""What a property that is not proved leaves behind: a trace, the state in words, a program."""

from __future__ import annotations

from sim.engine.design import Design
from sim.formal.proofs import Proof, Property
from sim.formal.sby import trace_of
from sim.formal.script import Script, Task, needed, readable, write_script
from sim.formal.trace import Trace, in_words
from sim.formal.trace_program import program_of
from sim.programs.reproducer import save
from sim.shared.paths import shown

FOLDER = "formal"  # of programs, among the outputs of a design
SIM = "icarus"  # builds in a second, and programs are short


def counterexample_script(proof: Proof, claim: Property, design: Design) -> Script:
    """Return the search for a run of the design itself in which one property fails."""
    return write_script(proof, Task.SEARCH, design, claim, mutated=False)


def explain(proof: Proof, claim: Property, design: Design) -> str:
    """Say where the trace of a property that is not proved lies, what is in it, what to run.

    Returns:
        Nothing if there is no trace.
    """
    texts = needed(proof.module, readable(design))
    found = trace_of(counterexample_script(proof, claim, design))
    if found is None:
        path = trace_of(write_script(proof, Task.PROVE, design))
        if path is None:
            return ""
        trace = Trace.read(path, proof.module)
        head = f"no counterexample in {proof.search} cycles; where induction fails, out of reach"
        return f"{head} perhaps: {shown(path)}\n{in_words(trace, claim.name, texts)}"
    trace = Trace.read(found, proof.module)
    lines = [f"fails in cycle {trace.cycles - 1} of {shown(found)}"]
    lines.append(in_words(trace, claim.name, texts))
    item = program_of(trace, claim.name)
    if item is not None:
        about = f"{proof.module}: {claim.name}: {claim.says}: not so\n{lines[0]}"
        saved = save(SIM, [item], about, rtl=design, folder=design.output(FOLDER))
        lines.append(f"in simulation: {saved.command}")
    return "\n".join(lines)
