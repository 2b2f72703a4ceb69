"""The rule by which an atlas advises on data that it has not seen."""

import math
from dataclasses import replace

import pytest

from orthobench.atlas import advice
from orthobench.atlas.advice import (
    NEAR,
    about,
    advise,
    difference,
    features_in,
    hits,
)
from orthobench.atlas.choice import TOLERANCE, close, favourites
from orthobench.atlas.features import Features
from orthobench.atlas.regimes import LOWEST, compared, cost

TIME = cost("seconds")
HERE = Features(1000, 50, 4, 1.5, 0.1, 0.0)


def asked(made, usable=lambda _: True):
    return advise(compared(made, LOWEST), HERE, LOWEST, usable)


def at(made, **features):
    """Return rows whose problems have these features."""
    return [replace(row, **{"decay": 1.5, **features}) for row in made]


def times(made, solver, factor):
    """Return rows in which one solver ends so many times as high."""
    return [replace(r, value=r.value * factor) if r.solver == solver else r for r in made]


def test_the_difference_is_that_of_the_feature_that_differs_most():
    assert difference(HERE, HERE) == 1
    assert difference(HERE, replace(HERE, rows=3000, d=100)) == pytest.approx(3)
    assert difference(HERE, replace(HERE, d=10)) == pytest.approx(5)
    assert difference(HERE, replace(HERE, noise=0.65)) == pytest.approx(0.66 / 0.11)
    assert difference(HERE, replace(HERE, sparsity=0.8)) == pytest.approx(1.01 / 0.21)
    assert difference(HERE, replace(HERE, decay=3.0)) == pytest.approx(2.01 / 0.51)


def test_what_is_unknown_of_either_does_not_count():
    unknown = Features(0, 100, 4)
    assert difference(HERE, unknown) == difference(unknown, HERE) == pytest.approx(2)
    assert difference(HERE, Features(0, 0, 0)) == math.inf


def test_samples_that_never_end_have_as_many_rows_as_were_drawn(rows):
    row = replace(rows()[0], rows=0, samples=777.0)
    assert features_in(row).rows == 777


def test_the_best_on_the_problems_near_is_named(rows):
    found = asked(at(rows(seeds=8)))
    assert found.solver == "solver-0"
    assert found.candidates[0].factor == 1
    assert [one.problem for one in found.near] == ["p0 k=2", "p1 k=3", "p2 k=4"]
    assert {one.seeds for one in found.near} == {8}


def test_only_problems_near_count_the_nearest_first(rows):
    made = rows(problems=5, seeds=8)
    far = [r for r in made if r.problem < "p3"]
    near = times([r for r in made if r.problem >= "p3"], "solver-0", 100)
    found = asked([*at(far, d=50 * 9), *at(near, d=60)])
    assert found.solver == "solver-1"
    assert {one.problem for one in found.near} == {"p3 k=5", "p4 k=6"}


def test_without_a_problem_near_it_cannot_tell(rows):
    found = asked(at(rows(), d=50 * 9))
    assert found.solver == ""
    assert "differs by a factor of 9" in found.why
    assert NEAR < 9
    assert asked([]).why == "no problem of the atlas is near"


def test_where_each_problem_has_another_best_it_cannot_tell(rows):
    made = at(rows(problems=2, solvers=2, seeds=8))
    split = [
        *times([r for r in made if r.problem == "p0 k=2"], "solver-0", 10),
        *(r for r in made if r.problem == "p1 k=3"),
    ]
    found = asked(split)
    assert found.solver == ""
    assert "no method is as good as the best" in found.why


def test_a_solver_shown_to_be_behind_by_little_stays(rows):
    made = times(at(rows(solvers=2, seeds=10)), "solver-1", 0.55)  # 1.1 times the first
    found = asked(made)
    assert [one.solver for one in found.candidates] == ["solver-0", "solver-1"]
    assert 1 < found.candidates[1].factor < TOLERANCE
    assert found.candidates[1].highest > found.candidates[1].worst


def test_of_equal_solvers_the_fastest_is_named(rows):
    made = at(rows(problems=1, solvers=3, seeds=8))
    by_seed = {r.seed: r.value for r in made if r.solver == "solver-0"}
    near = {"solver-0": (1, 0.2), "solver-1": (1.0005, 0.1)}
    same = [
        replace(r, value=by_seed[r.seed] * near[r.solver][0], seconds=near[r.solver][1])
        if r.solver in near else r for r in made
    ]  # fmt: skip
    assert asked(same).solver == "solver-1"


def test_a_solver_with_a_failed_run_is_not_named(rows):
    made = at(rows(problems=1, seeds=8))
    made[0] = replace(made[0], value=math.inf, failed=True)
    assert asked(made).solver == "solver-1"


def test_a_solver_that_cannot_take_the_data_is_not_named(rows):
    made = times(at(rows(seeds=10)), "solver-1", 0.55)
    assert asked(made, lambda name: name != "solver-0").solver == "solver-1"


def test_too_few_seeds_and_all_equal_cannot_tell(rows):
    assert "too few" in asked(at(rows(seeds=2))).why
    equal = [replace(row, value=0.5) for row in at(rows(seeds=8))]
    assert "any will do" in asked(equal).why
    failed = [replace(row, value=math.inf, failed=True) for row in at(rows(seeds=8))]
    assert asked(failed).solver == ""


def test_about_a_problem_features_do_not_matter(rows):
    assert about(compared(rows(problems=1, seeds=8), TIME), TIME).solver == "solver-0"


def test_hits_ask_without_the_problems_of_the_same_name(rows):
    made = at(rows(problems=3, seeds=8))
    assert hits(compared(made, LOWEST), LOWEST) == (3, 3, 3)
    odd = [*times([r for r in made if r.name == "p0"], "solver-0", 100),
           *(r for r in made if r.name != "p0")]  # fmt: skip
    assert hits(compared(odd, LOWEST), LOWEST) == (0, 1, 3)
    alone = [replace(row, name="same") for row in made]
    assert hits(compared(alone, LOWEST), LOWEST) == (0, 0, 3)
    assert advice.NEIGHBOURS >= 2


def test_close_are_those_within_the_tolerance_that_never_failed(rows):
    made = times(rows(problems=1, seeds=8), "solver-1", 0.55)
    made[-1] = replace(made[-1], value=math.inf, failed=True)
    (one,) = compared(times(made, "solver-3", 0.26), LOWEST)
    assert close(one) == {"solver-0", "solver-1"}
    failed = [replace(row, value=math.inf, failed=True) for row in made]
    assert close(compared(failed, LOWEST)[0]) == set()
    equal = [replace(row, value=0.05) for row in made]
    assert len(close(compared(equal, LOWEST)[0])) == 4


def test_what_leaves_much_of_the_gap_is_not_close_however_small_its_factor(rows):
    ends = {"solver-0": 0.9, "solver-1": 0.905, "solver-2": 0.95}
    made = [replace(row, start=1.0, lowest=0.9, value=ends[row.solver])
            for row in rows(problems=1, solvers=3, seeds=8)]  # fmt: skip
    (one,) = compared(made, LOWEST)
    assert one.left == pytest.approx({"solver-0": 0, "solver-1": 0.05, "solver-2": 0.5})
    assert max(one.factors.values()) < TOLERANCE
    assert close(one) == {"solver-0", "solver-1"}


def test_the_favourite_is_close_on_the_most_problems_and_the_next_on_most_others(rows):
    made = rows(problems=5, solvers=3, seeds=8)
    assert favourites(compared(made, LOWEST)) == [("solver-0", 5)]
    worse = [
        replace(row, value=row.value * 100)
        if (row.solver == "solver-0" and row.problem >= "p2")
        or (row.solver == "solver-1" and row.problem >= "p4") else row
        for row in made
    ]  # fmt: skip
    assert sum(count for _, count in favourites(compared(worse, LOWEST))) == 4


def test_a_solver_that_is_close_on_few_of_the_others_does_not_follow(rows):
    made = rows(problems=7, solvers=7, seeds=8)
    best = {f"p{i} k={2 + i}": f"solver-{max(i, 1)}" for i in range(7)}
    each = [replace(r, value=0.05 if best[r.problem] == r.solver else 9.0 + r.seed) for r in made]
    assert favourites(compared(each, LOWEST)) == [("solver-1", 2)]
