"""Which proofs can see a mutant, in the order in which they are asked, and what that depends on."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import msgspec

from sim.engine.design import Design
from sim.formal import proofs, script, smtbmc
from sim.formal.proofs import Proof, catalogue
from sim.formal.sby import PACKAGES
from sim.formal.script import Task, needed, readable, write_script
from sim.mutate.common.dependencies import imported
from sim.mutate.common.finding import KILLED, Finding
from sim.shared.files import digest

EFFECT = "GA2_EFFECT"
CHIP = "ga2"


class Scopes:
    """The proofs of a design by the file of a mutant.

    Raises:
        ScriptError: the design lacks a module that proofs are about.
    """

    def __init__(self, design: Design, files: dict[str, str]) -> None:
        """``files``: that of each mutant, by its key."""
        self.files = files
        self.proofs = {proof.name: proof for proof in catalogue().proofs}
        texts = readable(design)
        self._needed = {name: needed(proof.module, texts) for name, proof in self.proofs.items()}
        tools = [f"{name} {version(name)}" for name in PACKAGES]
        sources, packages = imported(["sim.mutate.proofs.campaign", script.__name__])
        own = [path for path in sources if "mutate/proofs" in path.as_posix()]
        tools += packages
        modules = [*own, *map(Path, (smtbmc.__file__, script.__file__, proofs.__file__))]
        self._digests = {
            name: digest(
                write_script(proof, Task.PROVE, design).text,
                msgspec.json.encode(proof).decode(),
                *(part for each in self._needed[name].items() for part in each),
                *tools,
                *modules,
            )
            for name, proof in self.proofs.items()
        }

    def of(self, file: str) -> list[Proof]:
        """Proofs whose module has a file in it, the likeliest first.

        Those of its own module, then of the smallest module around it. Of a unit those of effects
        include the times, of the chip they leave out faults and counters.
        """

        def order(proof: Proof) -> tuple[bool, int, bool]:
            own, chip = f"{proof.module}.sv" == file, proof.module == CHIP
            size = 0 if own else len(self._needed[proof.name])
            return not own, size, (EFFECT in proof.defines) == chip

        found = [proof for proof in self.proofs.values() if file in self._needed[proof.name]]
        return sorted(found, key=order)

    def basis(self, finding: Finding) -> str:
        """Name what a verdict depends on: the proof that refuted, else all that might have."""
        if finding.status == KILLED and finding.engine in self._digests:
            return self._digests[finding.engine]
        file = self.files.get(finding.key, "")
        return digest(*(self._digests[proof.name] for proof in self.of(file)), file)
