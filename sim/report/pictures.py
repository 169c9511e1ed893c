"""`make report-pictures`: one PNG of each figure of the report, written only when it changes.

They lie in the report's folder, `pictures/<figure>.png`; those that the documentation shows
(`docs/images`) are renewed as well.
"""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path

from selenium.webdriver import Chrome

from sim.engine.design import add_design_option
from sim.report.browser import DESKTOP, PHONE, chromium, show
from sim.report.write import make_report
from sim.shared.cli import Parser, run
from sim.shared.paths import ROOT, shown

SHOWN = ROOT / "docs" / "images"
DRAW = """
  const style = getComputedStyle(document.documentElement), done = arguments[0];
  const paper = style.getPropertyValue('--surface').trim();
  Promise.all([...document.querySelectorAll('.plot')].map(async plot => [plot.id,
    await Plotly.toImage(
      {data: plot.data, layout: {...plot.layout, paper_bgcolor: paper}},
      {format: 'png', width: plot.clientWidth, height: plot.clientHeight})])).then(done)"""


def pictures(browser: Chrome, page: Path) -> dict[str, bytes]:
    """Return a PNG of each figure of a page by its name, and of the page's head on two screens."""
    taken = {}
    for name, size in (("report-phone", PHONE), ("report-head", DESKTOP)):
        show(browser, page, size, unfold=False)
        # The date is no change.
        browser.execute_script("document.querySelector('.eyebrow span').remove()")
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        taken[name] = b64decode(shot["data"])
    show(browser, page)
    drawn = browser.execute_async_script(DRAW)
    return taken | {name: b64decode(url.partition(",")[2]) for name, url in drawn}


def renew(path: Path, data: bytes) -> bool:
    """Write a file unless it holds that already; return whether it was written."""
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return True


def main() -> int:
    """Write the report and its pictures; say which changed."""
    parser = Parser(prog="report-pictures", description=__doc__)
    add_design_option(parser)
    args = parser.parse_args()
    page = make_report(args.design)
    with chromium() as browser:
        taken = pictures(browser, page)
    files = {page.parent / "pictures" / f"{name}.png": data for name, data in taken.items()}
    files |= {path: taken[path.stem] for path in SHOWN.glob("*.png") if path.stem in taken}
    changed = [shown(path) for path, data in files.items() if renew(path, data)]
    print("\n".join([*changed, f"{len(changed)} of {len(files)} pictures changed"]))
    return 0


if __name__ == "__main__":
    run("report-pictures", main)
