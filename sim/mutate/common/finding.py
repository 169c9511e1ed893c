"""What is known of one mutant."""

from __future__ import annotations

from dataclasses import dataclass

KILLED, PROVEN, EXPLAINED, SURVIVED, OPEN = "killed", "proven", "explained", "survived", "open"
DECIDED = (KILLED, PROVEN, EXPLAINED)


@dataclass(frozen=True)
class Finding:
    """What is known of one mutant.

    Attributes:
        key: the mutant's name, the same in every run that makes the same mutant.
        status: killed, proven (equivalent by an engine), explained (equivalent for a reason that is
            written down), survived (so far) or open (nothing decided).
        stage: what decided: schema, own build, power-up, unit tests, proof, pytest.
        checks, test, program, message: of the kill.
        seconds: that the decision took.
        programs: that ran.
        survived: tests passed.
        engine, scope, assumptions: of the proof; the one assumption of an explained mutant is its
            reason.
        tried: engines that did not prove it.
    """

    key: str
    status: str
    stage: str = ""
    checks: tuple[str, ...] = ()
    test: str = ""
    program: str = ""
    message: str = ""
    seconds: float = 0.0
    programs: int = 0
    survived: tuple[str, ...] = ()
    engine: str = ""
    scope: str = ""
    assumptions: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
