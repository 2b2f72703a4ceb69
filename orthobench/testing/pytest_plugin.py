"""The conformance suite as a pytest plugin: a test for each check of each solver and problem.

Load it by ``pytest_plugins = ["orthobench.testing.pytest_plugin"]`` in the top ``conftest.py``.
Mark a test with names of installed plugins, solvers or problems, and take the argument
``conformance``::

    @pytest.mark.conformance("my-plugin", MySolver(rate=0.5), MyProblem(n=6))
    def test_conformance(conformance):
        conformance()

The ids of the tests are ``test_conformance[my-solver-chunking]``. Impossible checks are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

MARK = "conformance"


def pytest_configure(config: pytest.Config) -> None:
    """Register the mark."""
    text = f"{MARK}(*items): check solvers, problems, or all of plugins"
    config.addinivalue_line("markers", text)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test for each check."""
    if MARK not in metafunc.fixturenames:
        return
    items = [item for mark in metafunc.definition.iter_markers(MARK) for item in mark.args]
    if not items:
        pytest.fail(f"name what to check: @pytest.mark.{MARK}('my-plugin')", pytrace=False)
    cases = [*_cases(items)]
    metafunc.parametrize(MARK, cases, ids=[case.id for case in cases])


def _cases(items: Sequence[Any]) -> Iterator[Any]:
    from orthobench.registry.plugins import catalogue
    from orthobench.testing.cases import Asked, cases, cases_of

    for item in items:
        if isinstance(item, str):
            yield from cases(Asked(item), catalogue())
        else:
            yield from cases_of(item)
