"""Answers of an atlas: their numbers are recomputed with numpy from made-up rows."""

import math
from dataclasses import replace

import numpy as np

from orthobench.atlas.answers import BESIDES, SLIM, answers, situations
from orthobench.atlas.table import Atlas
from orthobench.report.sentences import factor_text


def answered(rows, situation):
    (found,) = (one for one in answers(Atlas(tuple(rows))) if one.situation.name == situation)
    return found


def table(rows, value):
    """Return the values of each solver on one problem, seed by seed."""
    solvers = dict.fromkeys(row.solver for row in rows)
    return {s: np.array([value(row) for row in rows if row.solver == s]) for s in solvers}


def test_the_sentence_has_the_factor_of_the_next_one(rows):
    own = rows(problems=1, seeds=10)
    values = table(own, lambda row: row.value)
    factors = {s: np.median(v / values["solver-0"]) for s, v in values.items() if s != "solver-0"}
    next_, factor = min(factors.items(), key=lambda pair: pair[1])
    found = answered(own, "best in the end")
    assert found.answer.solver == "solver-0"
    assert f"The next, {next_}, ends {factor_text(factor)} times as high" in found.answer.sure
    assert found.answer.sure.endswith("10 seeds, 1 problem.")
    assert found.losses == ()


def test_few_samples_counts_samples_up_to_a_hundredth_of_the_gap(rows):
    own = rows(problems=1, seeds=10)
    values = table(own, lambda row: row.samples_to[2])
    medians = {s: np.median(v) for s, v in values.items()}
    assert answered(own, "few samples").answer.solver == min(medians, key=medians.get)


def test_what_loses_is_listed_with_its_factor(rows):
    swap = {"solver-0": "solver-1", "solver-1": "solver-0"}
    own = [
        replace(r, solver=swap.get(r.solver, r.solver)) if r.problem.startswith("p2") else r
        for r in rows(problems=3, seeds=10)
    ]
    found = answered(own, "best in the end")
    (loss,) = found.losses
    lost = table([r for r in own if r.contest == loss.problem], lambda row: row.value)
    factor = np.median(lost["solver-0"] / lost["solver-1"])
    assert found.answer.solver == "solver-0"
    assert loss.problem == ("atlas-PCA", "p2 k=4")
    assert loss.shown
    assert f"solver-1 is ahead, solver-0 ends {factor_text(factor)} times as high" in loss.text


def test_problems_with_another_metric_have_answers_of_their_own(rows):
    own = [replace(r, metric="lag") if r.problem.startswith("p2") else r for r in rows(seeds=8)]
    found = {one.family: one for one in reversed(answers(Atlas(tuple(own))))}
    assert [*found] == ["PCA by lag", "PCA"]
    assert found["PCA by lag"].problems == (("atlas-PCA", "p2 k=4"),)
    assert len(found["PCA"].problems) == 2
    assert "lowest lag within" in found["PCA by lag"].situation.question
    assert {one.family for one in answers(Atlas(tuple(own)), "PCA by lag")} == {"PCA by lag"}
    assert {one.family for one in answers(Atlas(tuple(own)), "PCA")} == {"PCA", "PCA by lag"}


def test_of_equal_ones_the_fastest_is_best(rows):
    own = [
        replace(r, value=1e-17 * (1 + r.seed) if r.solver in ("solver-0", "solver-3") else r.value,
                seconds=1.0 if r.solver == "solver-0" else 0.5)
        for r in rows(problems=1, seeds=10)
    ]  # fmt: skip
    assert answered(own, "best in the end").answer.solver == "solver-3"


def test_situations_are_of_those_that_they_name(rows):
    sizes, own = (10, 20, 40), []
    for row in rows(problems=3):
        d = sizes[int(row.problem[1])]
        noise, memory = 0.9 if d == 20 else 0.1, 8 * d * row.k * SLIM + BESIDES
        memory += row.solver == "solver-0"
        own.append(replace(row, d=d, noise=noise, sparsity=0.6 if d == 10 else 0.0, memory=memory))
    found = {one.name: one for one in situations(own)}
    assert {row.d for row in found["large d"].rows} == {40}
    assert {row.d for row in found["noisy"].rows} == {20}
    assert {row.d for row in found["sparse"].rows} == {10}
    assert {row.solver for row in found["little memory"].rows} == {
        "solver-1",
        "solver-2",
        "solver-3",
    }
    assert len(found["best in the end"].rows) == len(own)


def test_situations_that_nothing_is_known_of_are_left_out(rows):
    own = [replace(r, d=0, noise=math.nan, sparsity=math.nan, samples=0.0) for r in rows()]
    names = [one.name for one in situations(own)]
    assert names == ["best in the end", "little time", "few flops", "high accuracy"]


def test_withdrawn_results_are_compared_with_nothing(rows):
    own = [replace(r, tier="withdrawn") if r.solver == "solver-0" else r for r in rows(seeds=10)]
    assert {one.answer.solver for one in answers(Atlas(tuple(own)))} == {"solver-1"}


def test_times_of_another_machine_do_not_count(rows):
    slow = [replace(r, solver="elsewhere", machine="another") for r in rows(solvers=1)]
    found = {one.name: one for one in situations([*rows(), *slow])}
    for name, one in found.items():
        there = "elsewhere" in {row.solver for row in one.rows}
        assert there == (name not in ("little time", "high accuracy"))
