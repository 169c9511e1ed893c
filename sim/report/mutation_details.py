"""Page of the mutation campaigns: every mutant with its verdict and what that rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sim.report.page import Block, Cell, Fold, Section, State, Table, count, percent

KILLED, PROVEN = "killed", "proven"
STYLES = {KILLED: "good", PROVEN: "soft", "explained": "soft"}
Mutant = dict[str, Any]
BEYOND = {
    "own build": "no schema expresses it",
    "power-up": "only unknown bits at power-up show it",
    "unit tests": "only a module by itself, driven beyond what programs ask of it, shows it",
}
"""Stages that are not programs on the common build, and why a mutant came that far."""


def details(data: dict[str, Any]) -> list[Section]:
    """Return the parts of the page of the design's campaign."""
    mutants = data["mutants"]
    parts = [still_open([m for m in mutants if m["status"] not in (KILLED, PROVEN)])]
    parts += [scores(data), found_by(data)]
    if named := [mutant for mutant in mutants if mutant["name"]]:
        parts.append(named_faults(named))
    if found := [m for m in mutants if m["status"] == KILLED and m["stage"] in BEYOND]:
        parts.append(beyond_programs(found))
    parts.append(proofs([mutant for mutant in mutants if mutant["status"] == PROVEN]))
    return [*parts, everything(mutants)]


def place(mutant: Mutant) -> Cell:
    """Return where a mutant is."""
    return Cell(f"{mutant['file']}:{mutant['line']}", "mono")


def what(mutant: Mutant) -> Cell:
    """Return what is changed."""
    return Cell(mutant["description"], "mono")


def fate(mutant: Mutant) -> Cell:
    """Return what became of a mutant."""
    return Cell(mutant["status"], STYLES.get(mutant["status"], "bad"))


def still_open(mutants: Sequence[Mutant]) -> Section:
    """Return the mutants that nothing has decided."""
    rows = [(place(m), m["kind"], what(m), Cell("; ".join(m["tried"]), "soft")) for m in mutants]
    table = Table(("where", "kind", "mutant", "proofs that were tried"), rows, "<<<<")
    state: State = "warn" if mutants else "good"
    lead = "Neither killed nor proven to change nothing: each shows where a check may be missing."
    number = f"{len(mutants):,}"
    blocks = [table] if mutants else []
    return Section("open", "Open", state, number, "neither killed nor proven", lead, blocks)


def scores(data: dict[str, Any]) -> Section:
    """Return the score by file and by kind, and where the time went."""
    tables = []
    for key, name in (("by_file", "file"), ("by_kind", "kind")):
        rows = [
            (
                Cell(group["group"], "mono"),
                f"{group['total']:,}",
                f"{group['killed']:,}",
                f"{group['proven']:,}",
                Cell(f"{group['open']:,}", "bad" if group["open"] else "soft"),
                Cell(percent(group["score"]), bar=group["score"]),
            )
            for group in data[key]
        ]
        head = (name, "mutants", "killed", "equivalent", "open", "score")
        tables.append(Table(head, rows, "<>>>>>", f"By {name}"))
    times: dict[str, float] = {**data["times"], "together": data["seconds"]}
    times["judging, summed over mutants and processes"] = data["judging_seconds"]
    lines = [(name, f"{seconds:,.1f}") for name, seconds in times.items()]
    tables.append(Table(("stage of the last run", "seconds"), lines, "<>"))
    score = percent(data["total"]["score"])
    lead = "The score is killed mutants of all that are not equivalent."
    return Section("scores", "Scores and time", "info", score, "score", lead, tables)


def found_by(data: dict[str, Any]) -> Section:
    """Return the checks and the tests that killed."""
    tests = [(Cell(name, "mono"), f"{number:,}") for name, number in data["tests"].items()]
    fold = Fold(count(len(tests), "test"), [Table(("test", "mutants killed"), tests, "<>")])
    blocks: list[Block] = [checks_table(data), fold]
    note = "tests killed at least one mutant"
    lead = "Which check of the testbench noticed a mutant, and in which test."
    return Section("found-by", "What killed", "info", f"{len(tests):,}", note, lead, blocks)


def checks_table(data: dict[str, Any]) -> Table:
    """Return for how many mutants each check was the first to fail, and for how many it failed."""
    total = sum(data["first_checks"].values())
    rows = [
        (name, Cell(f"{number:,}", bar=100 * number / total), f"{data['checks'][name]:,}")
        for name, number in data["first_checks"].items()
    ]
    return Table(("check", "first to fail for", "failed for"), rows, "<>>", "What found them")


def named_faults(mutants: Sequence[Mutant]) -> Section:
    """Return the mistakes that designers make."""
    rows = [
        (
            m["name"],
            place(m),
            what(m),
            fate(m),
            f"{m['test']} ({', '.join(m['checks'])})" if m["test"] else "",
        )
        for m in mutants
    ]
    found = sum(mutant["status"] == KILLED for mutant in mutants)
    table = Table(("fault", "where", "what", "fate", "killed by"), rows, "<<<<<")
    lead = "Mistakes that designers of such a chip make, planted by name."
    note = f"of {len(mutants):,} killed"
    return Section("named", "Named faults", "info", f"{found:,}", note, lead, [table])


def beyond_programs(mutants: Sequence[Mutant]) -> Section:
    """Return the mutants that no program on the common build killed, and why."""
    rows = [
        (place(m), what(m), m["test"], Cell(BEYOND[m["stage"]], "soft"), Cell(m["message"], "soft"))
        for m in mutants
    ]
    table = Table(("where", "mutant", "killed by", "because", "message"), rows, "<<<<<")
    lead = "Together with the proofs: all that the programs of the campaign did not decide."
    note = "mutants killed by other means than programs"
    return Section("beyond", "Not by programs", "info", f"{len(mutants):,}", note, lead, [table])


def proofs(mutants: Sequence[Mutant]) -> Section:
    """Return the mutants that change nothing, each with its proof."""
    rows = [
        (
            place(m),
            what(m),
            m["engine"],
            m["scope"],
            Cell("; ".join(m["assumptions"]), "soft"),
            f"{m['seconds']:,.1f}",
        )
        for m in mutants
    ]
    table = Table(("where", "mutant", "engine", "in", "assuming", "seconds"), rows, "<<<<<>")
    lead = "A tool proved that nothing at the pins can differ."
    note = "mutants proven equivalent"
    return Section("proofs", "Proofs", "info", f"{len(mutants):,}", note, lead, [table])


def everything(mutants: Sequence[Mutant]) -> Section:
    """Return every mutant with its verdict."""
    rows = [
        (
            str(m["number"]),
            place(m),
            m["kind"],
            what(m),
            fate(m),
            f"{m['test']}: {', '.join(m['checks'])}" if m["status"] == KILLED else m["engine"],
            Cell(m["message"], "soft"),
        )
        for m in mutants
    ]
    head = ("number", "where", "kind", "mutant", "fate", "by", "message")
    table = Fold(count(len(mutants), "mutant"), [Table(head, rows, "><<<<<<")])
    number = f"{len(mutants):,}"
    return Section("mutants", "Every mutant", "info", number, "mutants", "", [table])
