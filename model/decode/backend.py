"""What runs a compiled step for a host, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from model.chip.image import Words
from model.chip.machine import Machine, RunResult
from model.chip.timing import Latency
from model.compiler.compiled import Compiled
from model.compiler.graph import FloatArray
from model.decode.language_model import LanguageModel, new_row


class Backend(Protocol):
    """Anything that can run a program on an external memory image."""

    def run(self, compiled: Compiled, image: Words) -> RunResult:
        """Run the program from its first word; the result holds the memory after it."""
        ...


class MachineBackend:
    """Runs steps on the reference machine. The scratchpad persists from run to run."""

    def __init__(self, depth: int = 8192, latency: Latency = 8) -> None:
        self.machine = Machine(depth)
        self.latency = latency

    def run(self, compiled: Compiled, image: Words) -> RunResult:
        """Run one program; see Machine.run."""
        return self.machine.run(compiled.program, image, self.latency)


@dataclass(frozen=True, eq=False)
class HostStep:
    """One decode step as a host saw it.

    logits, k_new and v_new are the chip's integers, key and value the real numbers that the latter
    stand for; pages_in_use is the pool's count when the step started, before its row was appended
    (0 for a host without pages).
    """

    step: int
    context: int
    token_in: int
    token_out: int
    logits: tuple[int, ...]
    k_new: tuple[int, ...]
    v_new: tuple[int, ...]
    key: FloatArray
    value: FloatArray
    pages_in_use: int
    compiled: Compiled
    image: Words
    run: RunResult


def read_step(
    lm: LanguageModel,
    compiled: Compiled,
    image: Words,
    run: RunResult,
    *,
    step: int,
    context: int,
    token: int,
    pages: int = 0,
) -> HostStep:
    """Collect the outputs of a decode program that has run. Raises RuntimeError if it faulted."""
    if run.fault:
        raise RuntimeError(f"decode step {step} faulted at {run.fault_pc}: {run.fault.name}")
    out = {name: compiled.read(run.ext, name)[0] for name in compiled.outputs}
    real = {name: out[name] * region.scale for name, region in compiled.outputs.items()}
    k_new, v_new = (
        tuple(part for name in names for part in out[f"{name}_new"].tolist())
        for names in (lm.key_names, lm.value_names)
    )
    return HostStep(
        step,
        context,
        token,
        int(out["tok"][0]),
        tuple(out["logits"].tolist()),
        k_new,
        v_new,
        new_row(lm.key_names, real),
        new_row(lm.value_names, real),
        pages,
        compiled,
        image,
        run,
    )
