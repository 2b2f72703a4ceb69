"""Pages that are tested side by side: the longest first, each on a core of its own."""

import os

import pytest


def pytest_collection_modifyitems(items):
    """Begin with the tutorial, which takes longest: at the end others would wait for it."""
    items.sort(key=lambda item: item.path.name != "test_tutorial.py")


@pytest.fixture
def own_core():
    """Leave a page one core if others are tested beside it: its commands would take all."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    usable = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {usable[int(worker.removeprefix("gw")) % len(usable)]})
    yield
    os.sched_setaffinity(0, usable)
