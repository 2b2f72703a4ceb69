"""Make the pictures of the documentation, and more to look at: `python docs/pictures.py [FOLDER]`.

Runs the missing cells of the suite ``quickstart`` in FOLDER (default: the current one) and writes
the page. Takes pictures of parts of it for the documentation, and of the map of all families and of
each. Then takes pictures of the first screen of four pages at two widths, light and
dark, into FOLDER/pictures: that one, ``tensor-gmm`` interrupted, twelve solvers on six problems,
and runs that all failed. Needs Playwright and a Chromium, which the variable CHROMIUM may name. Run
it on a machine with nothing else to do: the pictures show times.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import large

from orthobench.errors import StoreError
from orthobench.harness.suite import Suite
from orthobench.results.results import Results

PICTURES = Path(__file__).parent / "pictures"
SITE = Path(__file__).parents[1] / "reports" / "atlas"
SIZES = {"width": 1440, "height": 900}
MARGIN = 12
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
TOOL = Path(sys.executable).with_name("orthobench")
INTERRUPTED = 44
"""The cells of ``tensor-gmm`` after which it is interrupted."""

LANDSCAPES = {"basin": 0, "canyon": 0, "plateau": 0, "ridge": 1, "saddle": 1, "valley": 2}
"""The names and numbers of made-up problems."""

SCREENS = ((1440, 900), (390, 844))


def quickstart(folder: Path) -> Path:
    """Run the suite, and return its store."""
    subprocess.run([TOOL, "run", "quickstart", "--quiet"], cwd=folder, check=True)
    return folder / "orthobench-results" / "quickstart" / "results.sqlite"


def interrupted(folder: Path) -> Path:
    """Run ``tensor-gmm`` until it has enough cells, interrupt it, and return its store."""
    store = folder / "interrupted.sqlite"
    words = [TOOL, "run", "tensor-gmm", "--quiet", "--no-figures", "-w", "1", "--store", store]
    with subprocess.Popen(words) as process:
        while process.poll() is None and _finished(store) < INTERRUPTED:
            time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    return store


def _finished(store: Path) -> int:
    try:
        results = Results.read(store)
    except StoreError:
        return 0
    return len(results.records) - len(results.missing)


def made(folder: Path, name: str, failed: float) -> Path:
    """Return a store of made-up runs of twelve solvers on six problems.

    Parameters
    ----------
    folder : Path
    name : str
    failed : float
        The share of runs that fail.
    """
    store = folder / f"{name}.sqlite"
    store.unlink(missing_ok=True)
    large.FAILED = failed
    large.fill(store, _suite())
    return store


def _suite() -> Suite:
    suite = large.suite(len(LANDSCAPES), 12, 10)
    problems = (
        replace(one, problem=type(name, (large.Valley,), {"name": name})(number), label=name)
        for (name, number), one in zip(LANDSCAPES.items(), suite.problems, strict=True)
    )
    return replace(suite, problems=tuple(problems))


def page_of(store: Path) -> str:
    """Write the page about a store, and return its address."""
    folder = store.with_suffix("")
    words = [TOOL, "report", store, "--out", folder]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return (folder / "index.html").resolve().as_uri()


def section(page: Any, selector: str, name: str) -> None:
    """Take a picture of an element."""
    element = page.locator(selector).first
    element.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # figures are drawn when they come into view
    box = element.bounding_box()
    top = box["y"] + page.evaluate("window.scrollY")
    clip = {
        "x": max(box["x"] - MARGIN, 0),
        "y": top,
        "width": box["width"] + 2 * MARGIN,
        "height": box["height"],
    }
    page.screenshot(path=PICTURES / f"{name}.png", clip=clip, full_page=True)


def documented(browser: Any, address: str) -> None:
    """Take the pictures that README and the guide show of a report."""
    page = browser.new_page(viewport=SIZES)
    page.goto(address)
    page.wait_for_timeout(1500)
    page.screenshot(path=PICTURES / "report.png")
    section(page, "#summary article", "report-top")
    section(page, "details.problem > .scroll", "report-problem")
    section(page, "details.problem figure.plot", "report-convergence")
    page.locator("#across > summary").click()
    section(page, "#across figure.plot", "report-profiles")
    page.close()


def maps(browser: Any, site: Path) -> None:
    """Take the pictures of the maps of all families of an atlas's site, and of each."""
    page = browser.new_page(viewport=SIZES)
    page.goto((site / "index.html").resolve().as_uri())
    section(page, ".cards", "map")
    page.close()
    for path in sorted(site.glob("family-*.html")):
        page = browser.new_page(viewport=SIZES)
        page.goto(path.resolve().as_uri())
        if page.locator("figure").count():  # nobody may be shown to be good
            section(page, "figure", path.stem.replace("family", "map"))
        page.close()


def screens(browser: Any, address: str, stem: Path) -> None:
    """Take pictures of the first screen of a page at two widths, light and dark."""
    for width, height in SCREENS:
        for scheme in ("light", "dark"):
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(address)
            page.wait_for_timeout(1500)
            page.screenshot(path=f"{stem}-{width}-{scheme}.png")
            page.close()


def main(folder: Path) -> None:
    """Make all stores and pages, and take all pictures."""
    from playwright.sync_api import sync_playwright

    stores = {
        "quickstart": quickstart(folder),
        "interrupted": interrupted(folder),
        "twelve": made(folder, "twelve", failed=0.02),
        "failed": made(folder, "failed", failed=1.0),
    }
    pages = {name: page_of(own) for name, own in stores.items()}
    shots = folder / "pictures"
    for place in (PICTURES, shots):
        place.mkdir(exist_ok=True)
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        documented(browser, pages["quickstart"])
        maps(browser, SITE)
        for name, address in pages.items():
            screens(browser, address, shots / name)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
