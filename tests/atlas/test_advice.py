"""Advice: near problems count more if that gains, and a solver is always named."""

import math
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest

import orthobench as ob
from orthobench.atlas.advice import advise, similar
from orthobench.atlas.answers import SHIPPED
from orthobench.atlas.features import Features
from orthobench.atlas.losses import (
    MODELS,
    Losses,
    linear,
    members,
    nearest,
    position_of,
    single_best,
)
from orthobench.atlas.table import Atlas
from orthobench.errors import UsageError
from orthobench.stats.calls import Stop


def losses(logs, sizes, blocks=None):
    """Return losses on problems that differ in the logarithm of their columns alone."""
    logs = np.array(logs, dtype=float)
    least, ran = np.ones(len(logs)), np.full(logs.shape, True)
    names = tuple(f"s{i}" for i in range(logs.shape[1]))
    blocks = blocks or tuple(f"b{i}" for i in range(len(logs)))
    stops = (Stop(),) * len(names)
    problems = tuple(
        SimpleNamespace(name=block, **asdict(sized(size)))
        for block, size in zip(blocks, sizes, strict=True)
    )
    return Losses(names, names, stops, problems, np.array(blocks), np.exp(logs), least, ran)


def sized(size):
    return Features(10, 0 if math.isnan(size) else math.exp(size), 2)


def expected(found, size, model):
    return found.expected(position_of(sized(size)), model)


def test_worth_of_a_member_is_the_loss_without_it():
    found = losses(np.log([[1, 4, 2], [3, 1, 3]]), [0, 1])
    by_name = {one["solver"]: one for one in members(found)}
    assert by_name["s0"]["marginal"] == pytest.approx(math.sqrt(2))
    assert by_name["s1"]["marginal"] == pytest.approx(math.sqrt(3))
    assert by_name["s2"]["marginal"] == 1
    assert by_name["s2"]["factor"] == pytest.approx(math.sqrt(6))
    assert [one["solver"] for one in members(found)] == ["s0", "s1", "s2"]
    some = replace(found, costs=np.array([[1.0, math.nan, 2.0], [3.0, math.nan, math.nan]]))
    assert [one["reached"] for one in members(some)] == [2, 1, 0]


def test_variants_of_one_data_set_share_the_weight_of_one_problem():
    found = losses([[0, 1], [0, 1], [2, 0]], [0, 0, 0], ("a", "a", "b"))
    for model in MODELS:
        np.testing.assert_allclose(expected(found, 0.0, model), [1, 0.5])
    # all of one block are left out
    np.testing.assert_allclose(found.held_out[single_best], [1, 1, 2])


def test_model_is_used_only_if_it_gains_enough():
    tied = losses([[0, 0.02], [0.02, 0], [0, 0.02], [0, 0.02]], range(4))
    assert tied.model is single_best
    # 0.03 in the mean logarithm is what counts as the same
    for gain, model in ((0.028, single_best), (0.032, nearest)):
        near = losses([*[[0, gain]] * 3, *[[gain, 0]] * 3], [0, 1, 2, 20, 21, 22])
        assert near.model is model
        assert near.held_out[single_best].mean() == pytest.approx(gain)
        assert near.held_out[nearest].mean() == 0


def test_linear_model_extrapolates_losses_that_grow():
    sizes = np.arange(8.0)
    found = losses(np.c_[0.25 * sizes, np.full(8, 1.6)], sizes)
    at = expected(found, 7.5, linear)
    assert at[0] > at[1] > expected(found, 0.0, linear)[0]
    assert expected(found, 100.0, linear)[0] == math.log(10)


def atlas_of(rows, solvers=("batch-pca", "oja"), sizes=(20, 40, 80, 160)):
    """Two solvers of which the second is cheaper on large problems."""
    made = rows(problems=len(sizes), solvers=2, seeds=8, family="stochastic PCA")
    found = []
    for row in made:
        p, s = int(row.name[1:]), int(row.solver[-1])
        cheap = (s == 1) == (p >= 2)
        found.append(
            replace(
                row, solver=solvers[s], solver_name=solvers[s], solver_parameters="{}",
                d=sizes[p], value=1e-3, metric="suboptimality", seconds=1.0 if cheap else 8.0,
                steps=1000, enough=999, spent=0.99 if cheap else 7.99,
            )
        )  # fmt: skip
    return Atlas(tuple(found))


def test_advice_leaves_the_single_best_if_that_gains(rows):
    atlas = atlas_of(rows)
    rng = np.random.default_rng(0)
    used = {
        d: advise(ob.stochastic_pca(rng.standard_normal((1000, d)), k=4), atlas=atlas).use
        for d in (20, 160)
    }
    assert used == {20: "batch-pca", 160: "oja"}


def test_advice_names_a_number_of_steps_if_it_is_enough(rows):
    early = [
        replace(r, steps=400, enough=24, spent=0.02 * r.seconds) if r.solver == "oja" else r
        for r in atlas_of(rows).rows
    ]
    X = np.random.default_rng(0).standard_normal((1000, 60)) * np.linspace(3, 1, 60)
    problem = ob.stochastic_pca(X, k=4)
    found = advise(problem, atlas=Atlas(tuple(early)))
    assert (found.use, str(found.stop), found.runner_up) == ("oja", "24 steps", "batch-pca")
    assert found.sentence.startswith("Use oja with 24 steps: expect")
    made = {"problem": problem}
    exec(found.code, made)  # noqa: S102 - as a user who pastes it
    assert made["outcome"].work.steps == 24


def test_problems_with_ordered_rows_do_not_answer_for_others(rows):
    made = [replace(r, ordered=r.name in ("p2", "p3")) for r in atlas_of(rows).rows]
    rng = np.random.default_rng(0)
    found = advise(ob.stochastic_pca(rng.standard_normal((1000, 160)), k=4), atlas=Atlas(made))
    assert found.use == "batch-pca"
    assert set(found.near) == {"p0 k=2", "p1 k=3"}


def test_advice_has_the_nearest_problems_and_the_regret(rows):
    atlas, data = atlas_of(rows), np.random.default_rng(0).standard_normal((1000, 100))
    found = advise(ob.stochastic_pca(data, k=4), atlas=atlas)
    assert found.near == ("p2 k=4", "p3 k=5", "p1 k=3")  # those with 80, 160 and 40 columns
    assert found.runner_up == "batch-pca"
    assert "of 4 problems of the atlas; next is batch-pca" in found.sentence
    alone = [r for r in atlas.rows if r.solver == "oja"]
    only = advise(ob.stochastic_pca(data, k=4), atlas=Atlas(tuple(alone)))
    assert (only.use, only.runner_up) == ("oja", None)
    # oja never loses; four problems, of which the nearest count most, and a quarter of a miss
    assert 10 ** (0.25 / 4.25) < only.expected_regret < 10 ** (0.25 / 1.25)


def test_advice_is_judged_without_other_sizes_of_the_same_problem(rows):
    made = atlas_of(rows, sizes=(20, 21, 160, 161)).rows  # the two sizes have different solvers
    kinds = [replace(r, name="small" if r.name in ("p0", "p1") else "large") for r in made]
    found = similar(kinds, ordered=False)
    # on either kind the other one advises the wrong solver
    assert found.lost.mean() > 0.9 * math.log(7.9)
    assert found.without(found.blocks)[nearest].mean() < 0.1
    one = similar([replace(r, name="one") for r in made], ordered=False)
    assert one.lost.mean() < 0.1  # sizes are left out where there is one kind


def test_advice_takes_a_text_or_a_problem(rows):
    text = "spiked-covariance n=80 k=4"
    problem = ob.catalogue().problem("spiked-covariance", {"n": 80, "k": 4})
    found = [advise(one, atlas=atlas_of(rows)) for one in (text, problem)]
    assert found[0].features == found[1].features
    assert [one.use for one in found] == ["oja", "oja"]
    assert found[0].check == f"orthobench race -p '{text}'"


def test_advice_follows_the_metric_of_the_problem(rows):
    made, swapped = atlas_of(rows).rows, {"oja": "batch-pca", "batch-pca": "oja"}
    other = [  # more problems by another metric, on which the other solver is the cheaper one
        replace(r, metric="subspace_error", problem=f"{r.problem} {i}", name=f"{r.name}{i}",
                solver=swapped[r.solver], solver_name=swapped[r.solver])
        for r in made for i in (1, 2)
    ]  # fmt: skip
    for order in ((*made, *other), (*other, *made)):
        found = advise("spiked-covariance n=160 k=4", atlas=Atlas(order))
        assert found.use == "oja"
        assert "4 problems" in found.sentence


def test_advice_far_beyond_the_atlas_says_so(rows):
    data = ob.stochastic_pca(np.random.default_rng(0).standard_normal((30_000, 20)), k=4)
    found = advise(data, atlas=atlas_of(rows))
    assert found.extrapolation == pytest.approx(30, rel=0.05)
    assert "30 times more rows than any measured" in found.sentence
    assert "far from all that was measured" in found.doubt


def test_advice_that_is_often_wrong_asks_for_a_race(rows):
    data = ob.stochastic_pca(np.random.default_rng(0).standard_normal((1000, 20)), k=4)
    made = atlas_of(rows, sizes=(20, 21) * 5).rows
    alone = Atlas(tuple(r for r in made if r.solver == "oja"))
    assert advise(data, atlas=alone).doubt == ""
    few = Atlas(tuple(r for r in alone.rows if r.name in ("p0", "p9")))
    assert "often wrong" in advise(data, atlas=few).doubt
    one = Atlas(tuple(r for r in made if r.name == "p0"))
    assert "often wrong" in advise(data, atlas=one).doubt  # nothing is left to judge advice by


def test_advice_is_doubted_near_the_problems_on_which_it_is_wrong(rows):
    right = [r for r in atlas_of(rows, sizes=(20, 21) * 6).rows if r.name not in ("p0", "p1")]
    wrong = [  # the other solver is the cheaper one on each second problem
        replace(r, d=50 * r.d, problem=f"{r.problem} far", name=f"{r.name} far",
                seconds=9.0 - r.seconds if int(r.name[1:]) % 2 else r.seconds, enough=0)
        for r in right
    ]  # fmt: skip
    atlas, rng = Atlas((*right, *wrong)), np.random.default_rng(0)
    near, far = (
        advise(ob.stochastic_pca(rng.standard_normal((1000, d)), k=4), atlas=atlas)
        for d in (20, 1000)
    )
    assert near.doubt == ""
    assert "often wrong" in far.doubt
    assert near.expected_regret < far.expected_regret


def test_advice_without_family_or_solver_is_refused(rows):
    data = ob.stochastic_pca(np.random.default_rng(0).standard_normal((100, 20)), k=4)
    with pytest.raises(UsageError, match="no problem of the family 'stochastic PCA'"):
        advise(data, atlas=Atlas(tuple(rows(family="another"))))
    with pytest.raises(UsageError, match="no solver of the atlas that is installed"):
        advise(data, atlas=atlas_of(rows, ("gone", "away")))


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
@pytest.mark.parametrize("cost", ["seconds", pytest.param("samples", marks=pytest.mark.wide)])
@pytest.mark.wide
def test_advice_on_unseen_data_names_a_solver(cost):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 30)) * np.linspace(3, 1, 30)
    found = advise(ob.stochastic_pca(X, k=3), cost)
    assert found.use in ob.catalogue().solvers
    assert 1 <= found.expected_regret < 10
    assert found.runner_up != found.solver
    assert found.check.startswith("orthobench race -p")
