"""The directed programs by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from verif.items.program_item import ProgramItem

Factory = Callable[[], ProgramItem | list[ProgramItem]]


@dataclass(frozen=True)
class Directed:
    """A directed program, or a short series of them that runs in order."""

    name: str
    family: str
    about: str
    slow: bool
    factory: Factory

    def items(self) -> list[ProgramItem]:
        """The program items, freshly made."""
        made = self.factory()
        return made if isinstance(made, list) else [made]


class DuplicateProgramError(ValueError):
    """Two directed programs were registered under one name."""


REGISTRY: dict[str, Directed] = {}


def register(name: str, family: str, about: str, factory: Factory, *, slow: bool = False) -> None:
    """Add a directed program.

    Raises:
        DuplicateProgramError: the name is taken.
    """
    if name in REGISTRY:
        raise DuplicateProgramError(f"directed program {name!r} is registered twice")
    REGISTRY[name] = Directed(name, family, about, slow, factory)


def directed(family: str, *, slow: bool = False) -> Callable[[Factory], Factory]:
    """Register the decorated factory under its own name, with its docstring's first line.

    ``slow`` marks a program of more than about 50,000 cycles: a quick slice on Icarus leaves it
    out.
    """

    def wrap(factory: Factory) -> Factory:
        about = (factory.__doc__ or "").strip().splitlines()[0]
        register(factory.__name__, family, about, factory, slow=slow)
        return factory

    return wrap
