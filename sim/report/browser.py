"""A headless Chromium that shows a page of the report: for its pictures, and to look at it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from sim.shared.errors import ToolError

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    # Nothing may be fetched: the report must open without a network.
    *("--hide-scrollbars", "--host-resolver-rules=MAP * ~NOTFOUND"),
)
PHONE, DESKTOP = (390, 844), (1400, 900)
SECONDS = 60.0


class BrowserError(ToolError):
    """There is no browser, or a page is never drawn."""


@contextmanager
def chromium() -> Iterator[webdriver.Chrome]:
    """Start a browser of its own profile, and end it.

    Raises:
        BrowserError: there is none.
    """
    program = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    driver = shutil.which("chromedriver")
    if not (program and driver):
        raise BrowserError("no chromium with chromedriver: apt install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(driver))
        browser.set_script_timeout(SECONDS)
        try:
            yield browser
        finally:
            browser.quit()


def show(
    browser: webdriver.Chrome,
    page: Path,
    size: tuple[int, int] = DESKTOP,
    scheme: str = "light",
    unfold: bool = True,
) -> None:
    """Open a page and wait until everything in it is drawn, also in what is closed if `unfold`.

    Raises:
        BrowserError: that takes too long.
    """
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    for log in ("browser", "performance"):
        browser.get_log(log)  # type: ignore[no-untyped-call]  # what is read is gone
    browser.get(page.as_uri())
    wait(browser, "return document.documentElement.dataset.ready === 'yes'")
    if unfold:
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        wait(browser, "const d = document.documentElement.dataset; return d.drawn === d.figures")


def wait(browser: webdriver.Chrome, condition: str) -> None:
    """Wait until a script says yes. Raises BrowserError when it never does."""
    end = time.monotonic() + SECONDS
    while not browser.execute_script(condition):
        if time.monotonic() > end:
            raise BrowserError(f"never true: {condition}")
        time.sleep(0.05)
