"""Writing the report: sections into templates, assets beside them."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import jinja2
from markupsafe import Markup

from sim.engine.design import Design
from sim.report import (
    coverage,
    decode,
    designs,
    engines,
    faults,
    formal,
    memory,
    model_mutation,
    mutation,
    pages,
    regression,
    serving,
    speed,
    testplan,
    timeline,
    trained,
    trends,
)
from sim.report.headline import Headline, judge
from sim.report.page import DASH, Figure, Section, Text
from sim.report.sources import Sources, UnfinishedError
from sim.shared import files

TEMPLATES = Path(__file__).parent / "templates"
INDEX = "index"
ASSETS = ("report.css", "report.js")
MODULES = (
    regression,
    testplan,
    coverage,
    mutation,
    engines,
    faults,
    model_mutation,
    formal,
    decode,
    timeline,
    trained,
    pages,
    memory,
    serving,
    speed,
    trends,
    designs,
)


def make_report(design: Design, folder: Path | None = None) -> Path:
    """Write the report about a design, into its own folder of outputs, and return its page."""
    return write_pages(Sources.of(design), folder or design.output("report"))


def write_pages(sources: Sources, folder: Path) -> Path:
    """Write the report into `folder` and return its page, `index.html`."""
    sections = [guarded(module.TITLE, module.ID, module.section, sources) for module in MODULES]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["figure_json"] = figure_json
    template = environment.get_template("page.html.j2")
    made = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())

    def write_page(name: str, parts: Sequence[Section], headline: Headline, design: str) -> None:
        home = "" if name == INDEX else name
        text = template.render(
            sections=parts, headline=headline, design=design, made=made, home=home
        )
        files.write_text(folder / f"{name}.html", text)

    assets = folder / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    for name in ASSETS:
        replace_copy(TEMPLATES / name, assets / name)
    replace_copy(plotly_script(), assets / "plotly.min.js")
    for part in sections:
        if part.details:
            headline = Headline(part.state, f"{part.title}: {part.figure}, {part.note}", [])
            write_page(part.id, part.details, headline, part.design)
        else:
            (folder / f"{part.id}.html").unlink(missing_ok=True)
    write_page(INDEX, sections, judge(sections), str(sources.design or ""))
    return folder / f"{INDEX}.html"


def guarded(
    title: str, id_: str, section: Callable[[Sources], Section], sources: Sources
) -> Section:
    """Return a section; a result file of an unexpected form must not cost the whole page."""
    try:
        return section(sources)
    except UnfinishedError as error:
        return Section(
            id_, title, "bad", DASH, "no verdict", "", [Text(f"{error}.", "bad")], str(error)
        )
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        AttributeError,
        ZeroDivisionError,
    ) as error:
        text = f"Its results do not have the expected form ({type(error).__name__}: {error})."
        problem = f"{title}: results that cannot be read"
        return Section(id_, title, "warn", DASH, "unreadable", "", [Text(text, "warn")], problem)


def figure_json(figure: Figure) -> Markup:
    """Return a figure as JSON that is safe inside a script element."""
    text = json.dumps({k: v for k, v in asdict(figure).items() if k in ("data", "layout")})
    return Markup(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def plotly_script() -> Path:
    """Return plotly's browser library, out of its Python package without importing that."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(2, "not installed", "plotly")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def replace_copy(source: Path, target: Path) -> None:
    """Copy a file in one step, unless the target is the same already."""
    if target.exists():
        old, new = target.stat(), source.stat()
        if (old.st_size, old.st_mtime_ns) == (new.st_size, new.st_mtime_ns):
            return
    part = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copy2(source, part)
    os.replace(part, target)
