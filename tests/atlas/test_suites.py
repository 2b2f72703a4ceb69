"""The suites of the atlas: they can be planned, and what ends their runs is no clock."""

import pytest

from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load

SUITES = {
    name: provided for name, provided in catalogue().suites.items() if name.startswith("atlas-")
}


@pytest.mark.parametrize("name", SUITES)
def test_a_part_has_ten_seeds_and_budgets_without_seconds(name):
    suite = load(SUITES[name].item, catalogue())
    assert len(suite.seeds) == 10
    for planned in suite.problems:
        assert planned.budget.limits
        assert "seconds" not in planned.budget.limits
    assert len(suite.problems) >= 2
    assert len(suite.problems) * len(suite.solvers) * len(suite.seeds) < 10_000


def test_there_is_a_part_for_each_family():
    families = {
        planned.problem.family
        for name in SUITES
        for planned in load(SUITES[name].item, catalogue()).problems
    }
    assert families == {problem.item.family for problem in catalogue().problems.values()}
