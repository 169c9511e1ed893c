"""The HTML report: what it says, and how it looks in a real Chromium (skipped without one)."""

from __future__ import annotations

import importlib.util
import itertools
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import report_samples as samples

import sim.regress.session
import sim.report.write
from model.serving.summary import summarize
from sim.engine.design import Design, own_design
from sim.regress import __main__ as regress_entry
from sim.report import designs, engines, serving
from sim.report.browser import DESKTOP, PHONE, BrowserError, chromium, show, wait
from sim.report.headline import NEEDED, judge
from sim.report.page import Section, percent
from sim.report.pictures import pictures, renew
from sim.report.sources import Sources
from sim.report.write import MODULES, make_report, write_pages
from sim.shared import files
from sim.shared.paths import ROOT, RTL

AXE = ROOT / ".tools" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("full")
    page = write_pages(samples.everything(folder), folder / "report")
    return SimpleNamespace(page=page, text=page.read_text())


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("empty")
    page = write_pages(Sources(folder, folder, folder), folder / "report")
    return SimpleNamespace(page=page, text=page.read_text())


# ---- What it says, without a browser


def test_all_failures_are_there_with_their_bucket_and_rerun(full):
    assert "Broken: 3 jobs of the smoke regression failed" in full.text
    assert len(re.findall('class="failure"', full.text)) == 2
    assert "2&times;" in full.text
    assert "make regress-rerun RUN=smoke-1 JOB=g.icarus" in full.text
    assert "First divergent instruction: <code>pc 3: MM dst=0" in full.text


def test_each_part_shows_its_figures(full):
    for text in (
        "1 mutant alive",
        "1 formal property missed a mutant",
        "busy_time",
        "icarus",
        "two&lt;&amp;",
        "66.7%",
        "1,234,567 comparisons",
        "Verdicts that agree with the mutant built by itself: 0 of 1",
        "1 realistic fault not found",
        "Not found: ",
        "Another instruction was named: ",
        "never equal here",
        "m: no longer a mutant: k",
    ):
        assert text in full.text
    assert "not run yet" not in re.sub("(?s)<header.*?</header>", "", full.text)
    assert "expected form" not in full.text


def test_the_page_of_coverage_has_every_bin_and_the_annotated_source(full):
    text = full.page.with_name("coverage.html").read_text()
    for shown in (
        '<span class="good">one 3</span>',
        '<span class="bad">two&lt;&amp; 0</span>',
        "three: left out, cannot be",
        "how &lt;long&gt;",
        "icarus alone 50.0%",
        "not covered: branch case",
        "left out: toggle a[2] 0-&gt;1, 1-&gt;0: tied",
        "<i>2</i><i>9</i>  always_ff @(posedge clk) begin",
        "gate.sv: toggle a[2]",
        "directed",
    ):
        assert shown in text
    assert re.findall('<div class="(\\w*)"><i>', text) == [
        "missing",
        "",
        "bad",
        "",
        "",
        "bad",
        *[""] * 4,
    ]


def test_the_page_of_mutation_has_every_mutant_with_what_its_verdict_rests_on(full):
    text = full.page.with_name("mutation.html").read_text()
    for number in range(1, 5):
        assert f"a -&gt; b &amp; &lt;{number}&gt;" in text
    for shown in (
        "equiv; abc pdr",
        "lost-carry",
        "random/typical (retire, memory)",
        "no reset",
        "directed/mm: memory",
        "expected &lt;/script&gt;",
        "judging, summed over mutants and processes",
        "Not by programs",
        "no schema expresses it",
    ):
        assert shown in text


def test_both_engines_stand_side_by_side(full):
    text = full.text.split('<section id="engines"')[1].split("</section>")[0]
    plain = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", text))
    for shown in (
        "The proofs refute 2 of 4 mutants; 1 hole, 1 open, 1 not yet tried.",
        "proofs simulation: killed simulation: not yet judged simulation: open simulation: proven",
        "refuted 1 0 1 0 hole 1 0 0 0 open 0 1 0 0 equivalent 0 0 0 1 not yet tried 0 1 0 0",
        "proofs, refuted 2 1.50 2.0 3",
        "simulation, killed 2 0.25 0.2 0",
        "hole ga2_vadd.sv:13 carry a -&gt; b &amp; &lt;3&gt; killed: directed/ld request_order",
        "open ga2_load.sv:14 carry a -&gt; b &amp; &lt;4&gt; not yet judged dma_is_followed",
    ):
        assert shown in plain, plain
    assert "the proofs leave 2 mutants, 1 not yet tried" in full.text
    page = full.page.with_name("engines.html").read_text()
    assert all(f"&lt;{number}&gt;" in page for number in range(1, 7))


@pytest.mark.parametrize(
    ("status", "simulation", "by"),
    [
        ("refuted", "killed", "both"),
        ("refuted", "not yet judged", "proofs alone"),
        ("hole", "killed", "simulation alone"),
        ("open", "open", "neither"),
        ("equivalent", "proven", "equivalent"),
    ],
)
def test_a_mutant_is_counted_for_the_engine_that_notices_it(status, simulation, by):
    assert engines.fate({"status": status, "simulation": simulation}) == by


def test_every_section_says_which_design_it_is_about(full):
    sections = re.findall(r'<section id="([\w-]+)".*?</section>', full.text, re.DOTALL)
    bodies = full.text.split("<section ")[1:]
    stamp = f'Design: <span class="mono">hw/rtl ({samples.OWN["hash"]}'
    own = {name for name, body in zip(sections, bodies, strict=True) if stamp in body}
    assert own == {
        *("regression", "coverage", "mutation", "engines", "faults", "formal"),
        *("decode", "timeline", "pages", "serving"),
    }
    assert "2 different designs" not in full.text
    for name in ("coverage", "mutation"):
        head = full.page.with_name(f"{name}.html").read_text().split("</header>")[0]
        assert samples.OWN["hash"] in head


def test_the_trained_model_has_its_figures_and_what_only_it_brings(full):
    text = full.text.split('<section id="trained"')[1].split("</section>")[0]
    for shown in ("2.145", "+0.020", "1 only the network (mm_power)", "52,347", "1-gram"):
        assert shown in text
    for figure in ("trained-windows", "trained-loss", "trained-operands"):
        assert f'id="{figure}"' in text
    assert "at most 0.020 from float" in full.text


@pytest.mark.parametrize(
    "command",
    [
        *("make regress", "make test directed random regress", "make cov", "make mutate"),
        *(
            "make mutate ENGINE=formal",
            "make formal",
            "make faults",
            "make mutate-model",
            "make serve",
        ),
        *("make", "make && make studies", "make studies", "make bench bench-regress"),
        "make trace PROGRAM=examples/attention.asm EXT=examples/attention.hex",
    ],
)
def test_a_missing_part_names_the_target_that_produces_it(empty, command):
    shown = command.replace("&", "&amp;")
    assert f"<code>{shown}</code>" in empty.text
    if match := re.search(r"python -m (\S+)", command):
        assert importlib.util.find_spec(f"{match[1]}.__main__")
        return
    for words in command.replace("&&", "").split(" PROGRAM")[0].split(" ENGINE")[0].split():
        target = re.search(rf"^{words}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words == "make" or target, f"the Makefile has no target {words}"


def test_without_results_nothing_is_called_good(empty):
    assert f"Nothing has failed, {len(NEEDED)} points still open" in empty.text


def test_a_request_is_drawn_from_its_arrival_to_its_end():
    for row in summarize(samples.served())["request_times"]:
        stretches = serving.life(row)
        assert stretches[0][1] == row["arrived"]
        assert stretches[-1][2] == row["ended"]
        assert all(one[2] == other[1] for one, other in itertools.pairwise(stretches))
        kinds = [kind for kind, _, _ in stretches]
        assert kinds.count("preempted") == len(row["preempted"])
    preempted = {"arrived": 0, "admitted": [3, 20], "preempted": [9], "first_token": 7, "ended": 30}
    assert serving.life(preempted) == [
        ("waiting", 0, 3),
        ("prefill", 3, 7),
        ("decode", 7, 9),
        ("preempted", 9, 20),
        ("decode", 20, 30),
    ]


def test_serving_that_failed_is_told(tmp_path):
    samples.serving(tmp_path, passed=False)
    section = serving.section(Sources(tmp_path, tmp_path, tmp_path))
    assert (section.state, section.problem) == ("bad", "serving failed on verilator")
    samples.studies(tmp_path)
    played = {"simulators": {"icarus": "11.0"}, "passed": False, "studies": [{"rtl_cycles": 7}]}
    files.write_json(tmp_path / "serve-studies-icarus.json", played)
    section = serving.section(Sources(tmp_path, tmp_path, tmp_path))
    assert section.problem == "serving failed on verilator, studies on icarus"
    files.write_json(tmp_path / "serve-studies-icarus.json", {**played, "passed": True})
    samples.serving(tmp_path)
    assert serving.section(Sources(tmp_path, tmp_path, tmp_path)).state == "good"


def test_results_of_different_designs_are_told_apart(tmp_path):
    stamp = {"path": "hw/rtl", "hash": "a1", "revision": "c0ffee", "dirty": True}
    for name in ("decode-icarus", "formal"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"design": stamp}))
    sources = Sources(tmp_path, tmp_path, tmp_path)
    same = designs.section(sources)
    assert (same.state, same.problem) == ("good", "")
    assert same.blocks[0].rows[0][3] == "c0ffee and changes"
    (tmp_path / "powerup.json").write_text(json.dumps({"design": {**stamp, "hash": "b2"}}))
    mixed = designs.section(sources)
    assert (mixed.state, mixed.problem) == ("warn", "the results are about 2 different designs")
    head = write_pages(sources, tmp_path / "report").read_text().split("</header>")[0]
    assert mixed.problem in head


@pytest.mark.parametrize(
    "name", ["regress/r-1/summary", "mutate/report", "mutate/formal", "results/a.trace"]
)
def test_a_result_of_any_kind_counts_among_the_designs(tmp_path, name):
    stamp = {"path": "hw/rtl", "hash": "a1", "revision": "", "dirty": False}
    sources = Sources(*(tmp_path / part for part in ("results", "regress", "mutate")))
    files.write_json(sources.results / "formal.json", {"design": stamp})
    # A run without a verdict was about a design, too.
    data = {"design": {**stamp, "hash": "b2"}, "outcome": "error"}
    if name.endswith("trace"):
        data = {"otherData": data, "traceEvents": []}
    files.write_json(tmp_path / f"{name}.json", data)
    assert designs.section(sources).state == "warn"


def test_the_report_of_another_design_is_apart_and_the_own_one_names_it(tmp_path, monkeypatch):
    build, other = tmp_path / "build", tmp_path / "mine"
    monkeypatch.setattr("sim.engine.design.BUILD", build)
    monkeypatch.setattr("sim.report.sources.BUILD", build)
    shutil.copytree(RTL, other)
    mine = Design.load(other)
    stamp = mine.to_json()
    files.write_json(mine.output("results") / "formal.json", {"design": stamp, "properties": []})
    page = make_report(mine)
    assert page == mine.output("report") / "index.html"
    assert page.is_relative_to(build / "designs")
    assert str(other) in page.read_text()
    own = make_report(own_design())
    assert own == build / "report" / "index.html"
    assert stamp["path"] not in own.read_text()
    assert mine.output("report").parent.name in own.read_text()


def test_a_torn_or_strange_result_does_not_cost_the_page(tmp_path):
    sources = samples.everything(tmp_path, broken=False)
    (sources.results / "studies.json").write_text('{"memory": [')
    (sources.results / "coverage.json").write_text('{"passed": true}')
    text = write_pages(sources, tmp_path / "report").read_text()
    assert "The studies were not made yet." in text
    assert "Its results do not have the expected form (KeyError" in text
    assert text.count("<section ") == len(MODULES)


def sections_with(**states: str) -> list[Section]:
    every = dict.fromkeys(NEEDED, "good") | states
    return [Section(n, n, s, "", "", "", [], f"{n} is {s}") for n, s in every.items()]  # type: ignore[arg-type]


def test_verdict():
    assert judge(sections_with()).title.startswith("Good")
    assert judge(sections_with(speed="info")).state == "good"
    assert judge(sections_with(coverage="warn")).title == "Nothing has failed, 1 point still open"
    assert judge(sections_with(mutation="missing")).state == "warn"
    worst = judge(sections_with(coverage="warn", decode="bad"))
    assert (worst.state, worst.title) == ("bad", "Broken: decode is bad")
    assert worst.lines == [("decode", "decode is bad"), ("coverage", "coverage is warn")]


def test_percentages_never_round_up_to_all():
    assert [percent(v) for v in (100, 99.96, 99.94, 0)] == ["100%", "99.9%", "99.9%", "0.0%"]


@pytest.mark.parametrize(("verdict", "code"), [("passed", 0), ("failed", 1), ("incomplete", 130)])
@pytest.mark.parametrize("fault", [None, OSError("disk full")])
def test_every_regression_ends_with_the_report(verdict, code, fault, monkeypatch, tmp_path, capsys):
    made = []

    def make(design: object) -> Path:
        made.append(True)
        if fault:
            raise fault
        return tmp_path / "index.html"

    monkeypatch.setattr(sim.report.write, "make_report", make)
    summary = {"verdict": verdict, "problems": []}
    monkeypatch.setattr(sim.regress.session, "regress", lambda *_: summary)
    monkeypatch.setattr("sys.argv", ["regress"])
    assert regress_entry.main() == code
    out, err = capsys.readouterr()
    assert made == [True]
    assert ("no report: OSError: disk full" in err) if fault else ("index.html" in out)


# ---- How it looks


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    try:
        with chromium() as started:
            yield started
    except BrowserError as error:
        pytest.skip(f"{error}; as root, make test-report does so")


@pytest.mark.parametrize("which", ["full", "empty"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_error_in_the_console_and_no_request_leaves_the_folder(browser, request, which, scheme):
    page = request.getfixturevalue(which).page
    show(browser, page, scheme=scheme)
    assert browser.get_log("browser") == []
    assert "GA-2: " in browser.title
    urls = [
        message["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    own = page.parent.as_uri() + "/"
    assert {u.removeprefix(own) for u in urls if not u.startswith("data:")} == {
        *("index.html", "assets/report.css", "assets/report.js", "assets/plotly.min.js"),
    }


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_every_figure_is_drawn_with_all_its_traces(browser, full, size):
    show(browser, full.page, size)
    figures = browser.execute_script(
        """return [...document.querySelectorAll('.plot')].map(plot => ({
          id: plot.id, width: plot.clientWidth, wanted: plot.data.length,
          axes: plot.querySelectorAll('.cartesianlayer .subplot').length,
          marks: [...plot.querySelectorAll(
            '.cartesianlayer .points path, .cartesianlayer .point path, .heatmaplayer image')]
            .filter(mark => mark.getBoundingClientRect().width > 0).length}))"""
    )
    names = {figure["id"] for figure in figures}
    assert {"decode-cycles", "decode-units", "timeline-0", "pages-none", "trends-jobs"} <= names
    assert {"coverage-points", "coverage-files", "mutation-files", "speed-rates"} <= names
    assert "faults-found" in names
    assert {"memory-waste", "memory-sharing", "memory-accuracy", "memory-batch"} <= names
    for figure in figures:
        assert figure["width"] > 250, figure
        assert figure["axes"] >= 1, figure
        assert figure["marks"] >= figure["wanted"], figure


@pytest.mark.parametrize("name", ["index", "coverage", "mutation"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_nothing_is_wider_than_the_screen(browser, full, name, size):
    show(browser, full.page.with_stem(name), size)
    assert browser.execute_script("return document.documentElement.scrollWidth") == size[0]


@pytest.mark.parametrize("name", ["index", "coverage", "mutation", "empty"])
@pytest.mark.parametrize(("size", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")])
def test_axe_finds_no_barrier(browser, full, empty, name, size, scheme):
    if not AXE.exists():
        pytest.skip(f"no {AXE.relative_to(ROOT)}; make test-report installs it")
    show(browser, empty.page if name == "empty" else full.page.with_stem(name), size, scheme)
    browser.execute_script(AXE.read_text())
    found = browser.execute_async_script(
        """axe.run(document, {preload: false}).then(result => arguments[0](
          [result.passes.length, result.violations.flatMap(rule => rule.nodes.map(
            node => `${rule.impact} ${rule.id}: ${node.html.slice(0, 200)}`))]))"""
    )
    assert found[0] > 15
    assert found[1] == []


def test_links_lead_to_what_they_name(browser, full):
    show(browser, full.page, unfold=False)
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    links = browser.execute_script("return [...document.links].map(a => a.getAttribute('href'))")
    pages = [link for link in links if not link.startswith("#")]
    assert pages == ["coverage.html", "mutation.html"]
    links = [link for link in links if link not in pages]
    assert len(set(links)) == len(MODULES) + 1
    for module in MODULES:
        assert links.count(f"#{module.ID}") >= 3  # contents, card, heading
    for target in set(links):
        assert target.startswith("#")
        browser.execute_script(
            "scrollTo(0, 0); document.querySelector(arguments[0]).click()", f'a[href="{target}"]'
        )
        top, hash_ = browser.execute_script(
            "return [document.getElementById(arguments[0]).getBoundingClientRect().top,"
            " location.hash]",
            target[1:],
        )
        assert hash_ == target
        assert 0 <= top < DESKTOP[1]


def test_the_pages_lead_to_the_source_and_back(browser, full):
    show(browser, full.page.with_stem("coverage"), unfold=False)
    assert browser.execute_script(
        "const fold = document.getElementById('gate.sv'); fold.open = false;"
        "document.querySelector('a[href=\"#gate.sv\"]').click(); return true"
    )
    wait(browser, "return document.getElementById('gate.sv').open")
    browser.execute_script("document.querySelector('.eyebrow a').click()")
    wait(browser, "return location.href.endsWith('index.html#coverage')")


def test_a_picture_of_each_figure_is_written_only_when_it_changes(browser, tmp_path):
    samples.studies(tmp_path)
    page = write_pages(Sources(tmp_path, tmp_path, tmp_path), tmp_path / "report")
    first = pictures(browser, page)
    ids = set(re.findall('class="plot" id="([^"]+)"', page.read_text()))
    assert set(first) == ids | {"report-head", "report-phone"}
    assert all(data.startswith(b"\x89PNG") for data in first.values())
    page.write_text(
        re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "1999-01-01 00:00 UTC", page.read_text())
    )
    again = pictures(browser, page)
    assert [name for name in first if first[name] != again[name]] == []
    path = tmp_path / "new" / "figure.png"
    assert renew(path, b"one")
    before = path.stat().st_mtime_ns
    assert not renew(path, b"one")
    assert path.stat().st_mtime_ns == before
    assert renew(path, b"two")
    assert path.read_bytes() == b"two"


def test_text_from_results_stays_text(browser, full):
    show(browser, full.page)
    assert browser.title != "broken"
    shown = browser.execute_script("return document.querySelector('.failure').innerText")
    assert "</script><script>" in shown


def luminance(colour: str) -> float:
    """Relative luminance of "rgb(r, g, b)" (WCAG 2)."""
    parts = [int(v) / 255 for v in re.findall(r"\d+", colour)[:3]]
    r, g, b = (v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, two: str) -> float:
    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


COLOURS = """
  const style = (query) => getComputedStyle(document.querySelector(query));
  return {paper: style('body').backgroundColor, ink: style('body').color,
    lead: style('.lead').color, head: style('h1').color, top: style('.top').backgroundColor,
    axis: style('#decode-cycles .xtick text').fill, card: style('figure').backgroundColor,
    line: style('#decode-cycles .js-line').stroke}"""


def test_readable_in_the_dark_and_in_the_light(browser, full):
    seen = {}
    for scheme in ("light", "dark"):
        show(browser, full.page, scheme=scheme, unfold=False)
        seen[scheme] = c = browser.execute_script(COLOURS)
        assert (luminance(c["paper"]) < 0.1) == (scheme == "dark")
        assert contrast(c["ink"], c["paper"]) > 7
        assert contrast(c["lead"], c["paper"]) > 4.5
        assert contrast(c["head"], c["top"]) > 4.5
        assert contrast(c["axis"], c["card"]) > 4.5
        assert contrast(c["line"], c["card"]) > 3
    # A change while the page is open reaches the figures, too.
    features = [{"name": "prefers-color-scheme", "value": "light"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    want = seen["light"]["line"]
    wait(
        browser,
        f"return getComputedStyle(document.querySelector('#decode-cycles .js-line')).stroke"
        f" === '{want}'",
    )


def test_the_timeline_zooms(browser, full):
    show(browser, full.page, unfold=False)
    script = """
      const plot = document.getElementById('timeline-0'), done = arguments[0];
      const before = plot.layout.xaxis.range[1];
      const wide = [...plot.querySelectorAll('.cartesianlayer > .subplot.xy .point path')]
        .map(p => p.getBoundingClientRect().width);
      Plotly.relayout(plot, {'xaxis.range': [0, before / 10]}).then(() => done([
        Math.max(...wide), Math.max(...[...plot.querySelectorAll(
          '.cartesianlayer > .subplot.xy .point path')].map(p => p.getBoundingClientRect().width)),
        plot.querySelector('.rangeslider-container') !== null]));"""
    before, after, strip = browser.execute_async_script(script)
    assert after > 5 * before
    assert strip
