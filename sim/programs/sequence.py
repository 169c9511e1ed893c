"""Play any sequence of verif/sequences by its name (``make run SEQUENCE=...``)."""

from __future__ import annotations

from typing import Any

import yaml
from rich.console import Console

from sim.engine.design import make_settings, print_design, random_command
from sim.engine.play import Simulation, play
from sim.programs.program_options import add_program_options, program_item
from sim.programs.report import finish_programs, program_files
from sim.shared.cli import Parser, run
from sim.shared.errors import UsageError
from sim.shared.failures import print_failures
from verif.items.job import Job
from verif.sequences.registry import UnknownSequenceError, make_sequence


def main() -> int:
    """Play the sequence; 0 when every program of it passed."""
    parser = Parser(prog="run", description=__doc__)
    add_program_options(parser)
    parser.add_argument("--sequence", required=True, help="its class name without 'Sequence'")
    parser.add_argument("--params", default="", help="of the job, as in 'seed=1 count=20'")
    args = parser.parse_args()
    items = [program_item(args)] if args.program else []
    params = parameters(args.params)
    if "seed" in params:
        params["rerun"] = random_command(make_settings(args.sim, args.design), params["seed"])
    job = Job(args.sequence, params, items)
    programs = count(job)
    console = Console(highlight=False)
    print_design(console, args.design)
    simulation = Simulation(job, args.sim, programs, build={"rtl": args.design})
    head = {"sequence": args.sequence, "params": args.params}
    with program_files("sequence", args.sim, args.design, args.results, **head) as files:
        batch = play(console, [simulation], waves=args.waves)
        print_failures(console, batch.results)
        compared = sum(result.comparisons for result in batch.results)
        text = (
            f"sequence {args.sequence} on {args.sim}: {len(batch.results):,} of {programs:,} "
            f"programs, {len(batch.failed)} failed, {compared:,} comparisons"
        )
        return finish_programs(console, files, batch, text)


def parameters(text: str) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value is a number, a text or a list as YAML has them.

    Raises:
        UsageError: a word without ``=``.
    """
    found: dict[str, Any] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if not (name and equals):
            raise UsageError(f"PARAMS: {word!r} is not key=value, as in PARAMS='seed=1 count=20'")
        found[name] = yaml.safe_load(value)
    return found


def count(job: Job) -> int:
    """How many programs the sequence of ``job`` plays.

    Raises:
        UsageError: there is none of that name, it lacks a parameter, or it plays nothing.
    """
    try:
        programs = sum(1 for _ in make_sequence(job).programs())
    except UnknownSequenceError as error:
        raise UsageError(f"SEQUENCE={job.sequence}: {error.args[0]}") from None
    except KeyError as error:
        raise UsageError(f"SEQUENCE={job.sequence} needs PARAMS='{error.args[0]}=...'") from None
    except NotImplementedError:
        raise UsageError(
            f"SEQUENCE={job.sequence} decides by itself what it plays; it has its own target"
        ) from None
    if not programs:
        raise UsageError(
            f"SEQUENCE={job.sequence}: nothing to play; give PROGRAM=... or PARAMS=..."
        )
    return programs


if __name__ == "__main__":
    run("run", main)
