"""Consulting an atlas about its own problems, and about data that it has not seen."""

import shlex
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from orthobench.atlas import consult
from orthobench.atlas.consult import find, limit_of, on_data, on_problem, opened
from orthobench.atlas.table import Atlas
from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.registry.plugins import catalogue

SOLVERS = ("batch-pca", "oja", "ccipca", "not-installed")


@pytest.fixture
def atlas(rows):
    """Return an atlas of problems near the data below, whose best solver is ``batch-pca``."""
    made = rows(seeds=8, family="stochastic PCA")
    return Atlas(tuple(
        replace(r, name="digits", parameters='{"k":2,"passes":1}', d=20, k=2, decay=1.2, noise=0.8,
                solver=SOLVERS[int(r.solver[-1])],
                solver_parameters='{"step":4.0}' if r.solver == "solver-1" else "{}")
        for r in made
    ))  # fmt: skip


@pytest.fixture
def matrix(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    np.save("X.npy", rng.standard_normal((1500, 20)) * np.linspace(2, 1, 20))
    return "npy-pca path=X.npy k=2"


def problem(text):
    name, *words = text.split()
    return catalogue().problem(name, {"path": "X.npy", "k": 2} if words else {})


def test_the_data_are_measured_and_the_problems_near_answer(atlas, matrix):
    found = on_data(atlas, problem(matrix), matrix)
    assert (found.family, found.features.d, found.features.k) == ("stochastic PCA", 20, 2)
    assert found.features.rows == 600  # the training part
    assert [one.solver for one in found.advice] == ["batch-pca"] * 4
    assert found.hits == ((0, 0, 3),) * 4  # all problems have one name


@pytest.mark.parametrize("other", ["not-installed", "gpower"])
def test_what_is_not_installed_or_cannot_take_the_data_is_not_named(atlas, matrix, other):
    best = {"batch-pca": other, "not-installed": "batch-pca"}
    swapped = [replace(row, solver=best.get(row.solver, row.solver)) for row in atlas.rows]
    found = on_data(Atlas(tuple(swapped)), problem(matrix), matrix)
    assert other not in {one.solver for one in found.advice}


@pytest.mark.parametrize("budget", [None, "samples=200"])
def test_the_command_that_checks_it_is_one(atlas, matrix, budget):
    best = [row for row in atlas.rows if row.solver == "batch-pca"]
    equal = [replace(row, solver="oja", seconds=2 * row.seconds) for row in best]
    others = [row for row in atlas.rows if row.solver != "oja"]
    found = on_data(Atlas((*others, *equal)), problem(matrix), matrix, budget)
    program, *words = shlex.split(found.check)
    assert program == "orthobench"
    assert words[:3] == ["run", "-p", matrix]
    assert words[3:7] == ["-s", "batch-pca", "-s", "oja step={tune=true}"]
    done = CliRunner().invoke(main, [*words, "--dry-run"])
    assert done.exit_code == 0, done.output


def test_problems_with_another_metric_do_not_answer(atlas, matrix):
    rows = [replace(row, metric="suboptimality") for row in atlas.rows]
    other = [replace(row, suite="s", metric="error", solver="oja", d=20) for row in rows[:64]]
    found = on_data(Atlas((*rows, *other)), problem(matrix), matrix)
    assert (found.family, found.instead) == ("stochastic PCA", "")
    assert {one.solver for one in found.advice} == {"batch-pca"}
    of_other = on_data(Atlas(tuple(other)), problem(matrix), matrix)
    assert of_other.instead == "error"


def test_a_kind_of_problems_is_found_by_its_name(atlas):
    other = [replace(row, suite="s", metric="time_lost", name="late") for row in atlas.rows[:8]]
    both = Atlas((*atlas.rows, *other))
    assert find(both, "stochastic-pca-by-time-lost") == ("stochastic PCA by time lost", "")
    assert find(both, "late") == ("stochastic PCA by time lost", "late")


def test_a_budget_asks_one_question(atlas, matrix):
    found = on_data(atlas, problem(matrix), matrix, "samples=200")
    assert [one.regime for one in found.advice] == ["Lowest value within 200 samples"]
    assert "--samples 200" in found.check


def test_a_family_that_the_atlas_does_not_know(atlas, matrix):
    other = catalogue().problem("stiefel-brockett")
    with pytest.raises(UsageError, match="no problem of the family 'Stiefel manifold'"):
        on_data(atlas, other, "stiefel-brockett")


def test_families_and_problems_are_found_however_they_are_written(atlas):
    assert find(atlas, "stochastic-pca") == find(atlas, "Stochastic PCA") == ("stochastic PCA", "")
    assert find(atlas, "p1 k=3") == ("stochastic PCA", "p1 k=3")
    with pytest.raises(UsageError, match="did you mean 'digits'"):
        find(atlas, "digit")


def test_about_a_problem_only_its_own_runs_count(atlas):
    worse = [
        replace(row, value=9.0) if (row.problem, row.solver) == ("p1 k=3", "batch-pca") else row
        for row in atlas.rows
    ]
    found = on_problem(Atlas(tuple(worse)), "p1 k=3")
    assert found.advice[0].solver == "oja"
    assert [one.problem for one in found.advice[0].near] == ["p1 k=3"]
    assert "digits k=2 passes=1" in found.check


@pytest.mark.parametrize("text", ["samples", "samples=", "samples=-1", "steps=3", "seconds=inf"])
def test_a_budget_that_is_none(text):
    with pytest.raises(UsageError, match="such as samples=1000"):
        limit_of(text)


def test_without_an_atlas_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(consult, "SHIPPED", tmp_path / "none.parquet")
    with pytest.raises(UsageError, match="name one with --atlas FILE"):
        opened(None)
