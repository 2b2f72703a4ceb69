"""The grids of the map: they can be planned, and there is one for each family."""

from orthobench.racing.grid import grids, points
from orthobench.registry.plugins import catalogue


def test_there_is_a_grid_for_each_family_with_problems_of_several_sizes(tmp_path):
    families = set()
    for part in grids():
        some = points([part], tmp_path)
        problems = [point.entry.suite.problems[0].problem for point in some]
        assert len(problems) >= 5
        assert len({point.store for point in some}) == len(some)
        families |= {problem.family for problem in problems}
    others = {problem.item.family for problem in catalogue().problems.values()} - families
    assert others == {"training", "eigenbasis stream"}  # no calls on data of one's own
