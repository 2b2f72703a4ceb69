"""The grids of the map: each family has one."""

from itertools import groupby

from orthobench.racing.grid import grids, points
from orthobench.registry.plugins import catalogue


def test_each_family_has_a_grid_of_several_sizes(tmp_path):
    every = points([], tmp_path)
    assert len({point.store for point in every}) == len(every)
    families, parts = set(), set()
    for folder, some in groupby(every, key=lambda point: point.store.parent):
        problems = [point.entrants.suite.problems[0].problem for point in some]
        assert len(problems) >= 5
        parts.add(folder.name)
        families |= {problem.family for problem in problems}
    assert parts == {*grids()}
    others = {problem.item.family for problem in catalogue().problems.values()} - families
    assert others == {"training"}  # whose networks are no data of one's own
