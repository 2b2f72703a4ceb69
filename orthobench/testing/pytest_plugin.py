"""The conformance suite in pytest: one test for each solver or problem and check.

It is loaded where it is asked for, so that nobody else's tests pay for it: by
``pytest_plugins = ["orthobench.testing.pytest_plugin"]`` in the top ``conftest.py``, or by
``-p orthobench.testing.pytest_plugin``. Mark a test with what is to be checked, the names of
installed plugins, solvers or problems, and let it take the argument ``conformance``::

    @pytest.mark.conformance("my-plugin", MySolver(rate=0.5), MyProblem(n=6))
    def test_conformance(conformance):
        conformance()

Test ids are ``test_conformance[my-solver-chunking]``. What is not checkable is skipped, with the
reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from orthobench.testing.package import Case

MARK = "conformance"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line(
        "markers",
        f"{MARK}(*what): check solvers and problems, or all that plugins of these names bring",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each check."""
    if MARK not in metafunc.fixturenames:
        return
    what = [arg for mark in metafunc.definition.iter_markers(MARK) for arg in mark.args]
    if not what:
        pytest.fail(f"say what to check: @pytest.mark.{MARK}('my-plugin')", pytrace=False)
    cases = list(_cases(what))
    metafunc.parametrize(MARK, cases, ids=[case.id for case in cases])


def _cases(what: list[Any]) -> Iterator[Case]:
    from orthobench.registry import catalogue
    from orthobench.testing.package import cases, cases_of

    for item in what:
        yield from cases(item, catalogue()) if isinstance(item, str) else cases_of(item)
