"""What is proved, how, and the fault that each property must notice: ``hw/formal/proofs.yaml``."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from sim.shared.errors import UsageError
from sim.shared.patch import Patch
from sim.shared.paths import ROOT, shown

PROPERTIES = ROOT / "hw" / "formal"
FILE = PROPERTIES / "proofs.yaml"


class Property(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An assertion by its label, what it says, and the fault it must notice.

    ``defines`` are macros for the search of the counterexample.
    """

    name: str
    says: str
    mutant: Patch
    defines: tuple[str, ...] = ()


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Properties of one module that are proved in one run, with what that rests on.

    The fields are explained in ``proofs.yaml``; ``limit`` is in seconds, for each run.
    """

    name: str
    module: str
    about: str
    properties: tuple[Property, ...]
    covers: tuple[str, ...]
    assumes: tuple[str, ...] = ()
    induction: int = 0
    search: int = 1
    skip: int = 0
    cover: int = 1
    engine: str = "smtbmc yices"
    defines: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    limit: float = 900.0

    def __post_init__(self) -> None:
        if not self.properties or not self.covers:
            raise ValueError(f"proof {self.name!r} needs at least one property and one cover")


class Catalogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All proofs, and the assumptions they may make: label and what it says."""

    assumptions: dict[str, str]
    proofs: tuple[Proof, ...]

    def __post_init__(self) -> None:
        names = [proof.name for proof in self.proofs]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two proofs are called {name!r}")
        used = {name for proof in self.proofs for name in proof.assumes}
        if used != set(self.assumptions):
            odd = ", ".join(sorted(used ^ set(self.assumptions)))
            raise ValueError(f"assumptions that are used but not declared, or the reverse: {odd}")


@lru_cache
def catalogue() -> Catalogue:
    """Read ``proofs.yaml``.

    Raises:
        UsageError: it does not say what it should; the message names the place.
    """
    try:
        return msgspec.yaml.decode(FILE.read_bytes(), type=Catalogue)
    except msgspec.MsgspecError as error:
        raise UsageError(f"{shown(FILE)}: {error}") from None
