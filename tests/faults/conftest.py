"""The plugin whose solvers fail, installed as far as entry points and processes can see."""

import gc
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(scope="session")
def faults():
    """The module of the plugin; worker processes find it on the same path."""
    sys.path.insert(0, str(PLUGIN))
    try:
        import orthobench_faults

        yield SimpleNamespace(**vars(orthobench_faults), folder=PLUGIN)
    finally:
        sys.path.remove(str(PLUGIN))


@pytest.fixture
def swept():
    """Have what a library leaves open found in the test that may leave it, not in a later one."""
    yield
    gc.collect()
