"""The grids of the map: each family has one."""

from orthobench.racing.grid import grids, points
from orthobench.registry.plugins import catalogue


def test_each_family_has_a_grid_of_several_sizes(tmp_path):
    families = set()
    for part in grids():
        some = points([part], tmp_path)
        problems = [point.entrants.suite.problems[0].problem for point in some]
        assert len(problems) >= 5
        assert len({point.store for point in some}) == len(some)
        families |= {problem.family for problem in problems}
    others = {problem.item.family for problem in catalogue().problems.values()} - families
    assert others == {"training"}  # whose networks are no data of one's own
