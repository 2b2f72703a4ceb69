"""Judges in numpy agree with those of the families, and figures are those that are asked for."""

import json
import math
from collections import Counter

import numpy as np
import pytest

import orthobench as ob
from orthobench.harness.cell import instance_of
from orthobench.registry.entries import specification

SAME = (
    "linnerud-pairs", "density-200x8", "geometric-brockett-30", "decaying-polar-600x200",
    "uneven-tensor-20", "noisy-tucker-25",
)  # fmt: skip
"""Problems without files of real data, whose value is the first metric of their family."""


def instance(script, name, folder):
    """Return the judge in numpy, and the instance of the product."""
    posed = script.PROBLEMS[name].pose(folder)
    made = posed.make(ob)
    if isinstance(made, str):
        entry = specification(made)
        made = instance_of(ob.catalogue().problem(entry.pop("name"), entry), 0)
    return posed, made


def test_the_list_covers_all_families_in_both_sets(script):
    problems = script.PROBLEMS.values()
    others = {"training", "eigenbasis stream"}  # nobody asks for a call there
    families = {p.item.family for p in ob.catalogue().problems.values()} - others
    for part in ("development", "held-out"):
        own = [p for p in problems if p.set == part]
        assert len(own) == 30
        assert {p.family for p in own} == families
        assert sum(p.real for p in own) >= 15
    assert max(Counter(p.name for p in problems).values()) == 1


@pytest.mark.parametrize("name", SAME)
def test_the_judge_agrees_with_that_of_the_family(script, name, tmp_path):
    posed, made = instance(script, name, tmp_path)
    rng = np.random.default_rng(0)
    U = script.follow_problems.random_point(rng, made.oracle.n, made.oracle.k)
    first = next(iter(made.measure(ob.Solution(U)).values()))
    assert posed.value(U, None) == pytest.approx(first, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "solver"),
    [("linnerud-pairs", "cca-exact"), ("decaying-polar-600x200", "polar-svd")],
)
def test_an_exact_method_reaches_the_optimum(script, name, solver, tmp_path):
    posed, made = instance(script, name, tmp_path)
    outcome = ob.solve(solver, made)
    assert abs(posed.value(outcome.solution, None) - posed.best) < 1e-5
    assert posed.start > 0.1


def test_a_solution_that_is_infeasible_is_infinitely_bad(script, tmp_path):
    posed, made = instance(script, "density-200x8", tmp_path)
    assert posed.value(np.zeros((made.oracle.n, made.oracle.k)), None) == math.inf


def test_the_call_of_printed_code_runs_on_another_seed(script, tmp_path):
    posed, made = instance(script, "density-200x8", tmp_path)
    kept = []
    calls = script.Calls(posed, made, kept.append)
    code = "\n".join((
        "problem = ...  # your instance",
        "outcome = ob.solve('wen-yin', problem, ob.Budget(steps=3), seed=1)",
    ))  # fmt: skip
    line = script.solve_line(code)
    _, first, outcome = calls(line)
    assert np.array_equal(outcome.solution, calls(line, 1)[2].solution)
    assert calls(line, 2)[1] != first
    assert script.solve_line("outcome = None") == ""
    _, value, error = calls("ob.solve('no such method', problem)")
    assert value == math.inf
    assert isinstance(error, ob.UsageError)


def row(seconds, values, said=1.0):
    """Return the row of a call whose cheapest alternative takes 0.5 s and ends at 0."""
    return {
        "problem": "p", "start": 1.0,
        "race": {
            "cost": said, "reached": 10, "seeds": 10,
            "followed": {"line": "own", "seconds": [seconds] * 5, "first": 9.0, "value": 0.0,
                         "values": {str(i): v for i, v in enumerate(values)}},
        },
        "literal": {"best": 0.0, "line": "cheap", "hits": 5,
                    "timed": {"cheap": 0.5, "own": seconds}},
    }  # fmt: skip


def test_regret_is_what_a_call_loses_beyond_what_is_free(script):
    good, half, poor = [0.0] * 10, [0.0] * 5 + [0.5] * 5, [0.0] * 4 + [None] * 6
    found = [script.figures(row(1.05, v), "race") for v in (good, half, poor)]
    assert [f["hits"] for f in found] == [10, 5, 4]
    assert [f["regret"] for f in found] == pytest.approx([2.0, 2.0, script.MISS])
    assert script.figures(row(0.54, good), "race")["regret"] == 1.0


def test_a_small_difference_of_costs_is_not_counted(script):
    near, far = (script.figures(row(t, [0.0] * 5, 0.1), "race")["ratio"] for t in (0.119, 0.15))
    assert near == 1.0
    assert far == pytest.approx(1.5)


def test_a_call_that_does_not_run_counts_ten(script):
    fails = row(1.0, [])
    fails["race"]["followed"] = {"error": "UsageError: nothing limits this run"}
    found = script.totals([fails, row(0.5, [0.0] * 20)], "race")
    assert found["runs"] == "1 of 2"
    assert found["regret, geometric mean"] == "3.16"
    assert found["as good, said n of n on five seeds or more"].startswith("20 of 20")


def test_two_files_are_compared_on_the_problems_of_both(script, tmp_path, capsys):
    files = [tmp_path / "old.json", tmp_path / "new.json"]
    for file, seconds in zip(files, (1.0, 0.5), strict=True):
        more = [{"problem": "other", "skipped": "no data"}]
        text = json.dumps({"facts": {}, "rows": [row(seconds, [0.0] * 5), *more]})
        file.write_text(text.replace('"race": {', '"advise": {"error": "none"}, "race": {'))
    assert script.main(["--compare", *map(str, files)]) == 0
    assert "| race: regret, geometric mean | 1.9 | 1 |" in capsys.readouterr().out


OWN = """
import numpy as np
from follow_problems import PROBLEMS, Posed, pca, problem


@problem("own", "pca")
def wine_scaled(folder) -> Posed:
    return pca(np.random.default_rng(0).standard_normal((50, 4)) * [4, 3, 2, 1], k=2)
"""


def test_a_list_of_ones_own_replaces_that_of_the_project(script, tmp_path):
    file = tmp_path / "own.py"
    file.write_text(OWN)
    before = dict(script.PROBLEMS)
    found = script.listed(file)
    assert [(p.name, p.set) for p in found.values()] == [("wine-scaled", "own")]
    assert script.listed(None) == before
    file.write_text(f"{OWN}\n\n{OWN}")
    with pytest.raises(ValueError, match="wine-scaled"):
        script.listed(file)
