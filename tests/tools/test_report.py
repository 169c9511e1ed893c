"""The HTML report: what it says, and how it looks in a real Chromium (skipped without one)."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import report_samples as samples

import sim.regress.session
import sim.report.write
from sim.regress import __main__ as regress_entry
from sim.report import designs
from sim.report.page import Section, percent
from sim.report.sources import Sources
from sim.report.verdict import NEEDED, judge
from sim.report.write import MODULES, make_report
from sim.shared.paths import ROOT

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Nothing may be fetched: the report must open without a network.
    *("--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
PHONE, DESKTOP = (390, 844), (1400, 900)


@pytest.fixture(scope="module")
def full(tmp_path_factory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("full")
    page = make_report(samples.everything(folder), folder / "report")
    return SimpleNamespace(page=page, text=page.read_text())


@pytest.fixture(scope="module")
def empty(tmp_path_factory) -> SimpleNamespace:
    folder = tmp_path_factory.mktemp("empty")
    page = make_report(Sources(folder, folder, folder), folder / "report")
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
        "&lt;never&gt;",
        "66.7%",
        "1,234,567 comparisons",
    ):
        assert text in full.text
    assert "not run yet" not in re.sub("(?s)<header.*?</header>", "", full.text)
    assert "expected form" not in full.text


@pytest.mark.parametrize(
    "command",
    [
        *("make regress", "make test directed random regress", "make cov", "make mutate"),
        "make formal",
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
    for words in command.replace("&&", "").split(" PROGRAM")[0].split():
        target = re.search(rf"^{words}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert words == "make" or target, f"the Makefile has no target {words}"


def test_without_results_nothing_is_called_good(empty):
    assert f"Nothing has failed, {len(NEEDED)} points still open" in empty.text


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


def test_a_torn_or_strange_result_does_not_cost_the_page(tmp_path):
    sources = samples.everything(tmp_path, broken=False)
    (sources.results / "studies.json").write_text('{"memory": [')
    (sources.results / "coverage.json").write_text('{"passed": true}')
    text = make_report(sources, tmp_path / "report").read_text()
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

    def make() -> Path:
        made.append(True)
        if fault:
            raise fault
        return tmp_path / "index.html"

    monkeypatch.setattr(sim.report.write, "make_report", make)
    monkeypatch.setattr(sim.regress.session, "regress", lambda *_: {"verdict": verdict})
    monkeypatch.setattr("sys.argv", ["regress"])
    assert regress_entry.main() == code
    out, err = capsys.readouterr()
    assert made == [True]
    assert ("no report: OSError: disk full" in err) if fault else ("index.html" in out)


# ---- How it looks


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    driver = shutil.which("chromedriver")
    if not (program and driver):
        pytest.skip("no chromium with chromedriver here; as root, make test-report installs them")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        chrome = webdriver.Chrome(options=options, service=Service(driver))
        chrome.set_script_timeout(60)
        try:
            yield chrome
        finally:
            chrome.quit()


def show(browser, page, size=DESKTOP, scheme="light", unfold=True) -> None:
    """Open a page and wait until everything in it is drawn."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(page.as_uri())
    wait(browser, "return document.documentElement.dataset.ready === 'yes'")
    if unfold:
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        wait(
            browser,
            "const d = document.documentElement.dataset; return d.drawn === d.figures",
        )


def wait(browser, condition: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not browser.execute_script(condition):
        assert time.monotonic() < end, f"never true: {condition}; {browser.get_log('browser')}"
        time.sleep(0.05)


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
    assert {"memory-waste", "memory-sharing", "memory-accuracy", "memory-batch"} <= names
    for figure in figures:
        assert figure["width"] > 250, figure
        assert figure["axes"] >= 1, figure
        assert figure["marks"] >= figure["wanted"], figure


@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_nothing_is_wider_than_the_screen(browser, full, size):
    show(browser, full.page, size)
    assert browser.execute_script("return document.documentElement.scrollWidth") == size[0]


def test_links_lead_to_what_they_name(browser, full):
    show(browser, full.page, unfold=False)
    browser.execute_script("document.documentElement.style.scrollBehavior = 'auto'")
    links = browser.execute_script("return [...document.links].map(a => a.getAttribute('href'))")
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
