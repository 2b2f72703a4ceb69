"""Checks with fewer steps, for those that test the checks and not a solver."""

import pytest

from orthobench.testing import checks_of_solvers, short_runs


@pytest.fixture(scope="module", autouse=True)
def collector_is_fast(few_objects):
    """Have few objects to search: the checks call the collector."""


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(short_runs, "STEPS", 16)
    monkeypatch.setattr(checks_of_solvers, "ENDING_STEPS", 60)
