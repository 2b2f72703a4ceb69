"""The browser in which tests open pages: one for all tests of a process."""

import shutil

import pytest

ARGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

PATIENCE = 120_000
"""Milliseconds to wait for anything in a browser: the machine may be busy."""


@pytest.fixture(scope="session")
def chromium():
    """The system's Chromium, driven by playwright."""
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"there is no browser: none of {', '.join(names)} is on the path")
    with sync.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=found, args=ARGS, timeout=PATIENCE)
        yield opened
        opened.close()
