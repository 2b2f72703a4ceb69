"""Make the pictures of the documentation: ``python docs/pictures.py [FOLDER]``.

Runs the suite ``quickstart`` in FOLDER (default: the current one), as far as its store there lacks
it, writes the page, and takes pictures of parts of it. Needs Playwright and a Chromium, which the
variable CHROMIUM may name. Run it on a machine with nothing else to do: the pictures show times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).parent / "pictures"
SIZES = {"width": 1120, "height": 1000}
MARGIN = 12
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def commands(folder: Path) -> Path:
    """Run the suite, write its page, and return the page's path."""
    tool = Path(sys.executable).with_name("orthobench")
    store = folder / "orthobench-results" / "quickstart"
    for words in (["run", "quickstart", "--quiet"], ["report", str(store)]):
        subprocess.run([tool, *words], cwd=folder, check=True)
    return store.resolve() / "report" / "index.html"


def section(page: Any, selector: str, name: str, height: float = 10_000) -> None:
    """Take a picture of the top of an element, at most `height` pixels high."""
    element = page.locator(selector).first
    element.scroll_into_view_if_needed()
    page.wait_for_timeout(1500)  # figures are drawn when they come into view
    box = element.bounding_box()
    top = box["y"] + page.evaluate("window.scrollY")
    clip = {
        "x": max(box["x"] - MARGIN, 0),
        "y": top,
        "width": box["width"] + 2 * MARGIN,
        "height": min(box["height"], height),
    }
    page.screenshot(path=PICTURES / f"{name}.png", clip=clip, full_page=True)


def photograph(address: str) -> None:
    """Take the pictures that README and the guide show of a report."""
    from playwright.sync_api import sync_playwright

    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZES)
        page.goto(address)
        section(page, "#summary", "report-top", 580)
        section(page, "details.problem", "report", 1055)
        section(page, "details.problem", "report-problem", 545)
        section(page, "details.problem figure.plot", "report-convergence")
        section(page, "#across figure.plot", "report-profiles")
        browser.close()


if __name__ == "__main__":
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    PICTURES.mkdir(exist_ok=True)
    photograph(commands(folder).as_uri())
