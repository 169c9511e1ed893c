"""Section: mutants of the reference model, which its own tests have to find."""

from __future__ import annotations

from sim.report.page import Block, Cell, Fold, Section, State, Table, Text, count, missing, percent
from sim.report.sources import Sources

ID, TITLE = "model-mutation", "Mutation of the model"
LEAD = (
    "The reference model is what the design is compared with, so its tests are tried as well. A "
    "survivor is explained by a written reason why nothing can tell it from the model, or open."
)


def section(sources: Sources) -> Section:
    """Return the section of the model's mutants."""
    data = sources.result("mutate-model")
    if data is None or not data["modules"]:
        return missing(
            ID, TITLE, LEAD, "The model's tests were not tried yet.", "make mutate-model"
        )
    modules = data["modules"]
    rows, survivors = [], []
    ran = killed = open_ = 0
    for module in modules:
        alive = [s for s in module["survivors"] if not s["reason"]]
        caught = module["run"] - len(module["survivors"])
        score = 100 * caught / max(1, caught + len(alive))
        ran, killed, open_ = ran + module["run"], killed + caught, open_ + len(alive)
        rows.append(
            (
                Cell(module["module"], "mono"),
                f"{module['generated']:,}",
                f"{module['run']:,}",
                f"{caught:,}",
                f"{len(module['survivors']) - len(alive):,}",
                Cell(f"{len(alive):,}", "warn" if alive and module["strict"] else "soft"),
                Cell(percent(score), bar=score),
            )
        )
        survivors += sorted(module["survivors"], key=lambda s: bool(s["reason"]))
    state: State = "good" if data["passed"] else "warn"
    head = ("module", "mutants", "run", "killed", "explained", "open", "score")
    stale = [Text(text, "warn") for module in modules for text in module["stale_reasons"]]
    blocks: list[Block] = [*stale, Table(head, rows, "<>>>>>>")]
    if survivors:
        lines = [
            (
                Cell(f"{s['file']}:{s['line']}", "mono"),
                Cell(s["description"], "mono"),
                s["reason"] or Cell("open", "warn"),
            )
            for s in survivors
        ]
        table = Table(("where", "mutant", "why nothing can tell it"), lines, "<<<")
        blocks.append(Fold(count(len(lines), "survivor"), [table]))
    figure = percent(100 * killed / max(1, killed + open_))
    note = f"killed of {count(ran, 'mutant')} that were run, {open_:,} open"
    problem = "" if data["passed"] else "mutants of the model survive, or a reason does not hold"
    return Section(ID, TITLE, state, figure, note, LEAD, blocks, problem)
