"""The benchmark that a module of tests is about."""

import importlib.util
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def script(request):
    """Return the module that ``test_NAME.py`` tests, which is in no package."""
    name = request.path.stem.removeprefix("test_")
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
