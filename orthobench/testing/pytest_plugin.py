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
    from orthobench.registry.plugins import catalogue
    from orthobench.testing.cases import Asked, Case, cases, cases_of

    found = list[Case]()
    for item in items:
        found += cases(Asked(item), catalogue()) if isinstance(item, str) else cases_of(item)
    metafunc.parametrize(MARK, found, ids=[case.id for case in found])
