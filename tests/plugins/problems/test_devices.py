"""The suite `devices`, at tiny sizes on the processor, and on a GPU if there is one."""

import tomllib
from pathlib import Path

import orthobench_kit
import pytest

import orthobench as ob
from orthobench.registry.plugins import catalogue
from orthobench.tools.places import place_of

SUITE = Path(orthobench_kit.__file__).parent / "suites" / "devices.toml"

TINY = {
    2500: 30, 1500: 10, 5000: 14, 50_000: 18, 500: 6, 2000: 12, 1000: 8, 200: 5, 20: 4, 100: 3,
    300: 4, 10_000: 10, 64: 6, 16: 3, 128: 12,
}  # fmt: skip
"""Replacements for the numbers of the suite; smaller ones stay."""


def tiny(*places):
    """The suite with small problems, at some places."""
    table = tomllib.loads(SUITE.read_text(encoding="utf-8"))
    for problem in table["problem"]:
        for name in ("n", "k", "p", "rows", "matrices"):
            if name in problem:
                values = problem[name] if isinstance(problem[name], list) else [problem[name]]
                problem[name] = sorted({TINY.get(value, value) for value in values})
        limits = {"samples": 60, "steps": 3}
        problem["budget"] = {name: limits[name] for name in problem["budget"]}
        problem |= {"test": 40} if "test" in problem else {}
    solvers = [{**s, "batch": 20} if "batch" in s else s for s in table["solver"]]
    placed = [
        {**s, "on": [on for on in places if on in s.get("on", places)] or places[0]}
        if any(issubclass(one.item, ob.contract.ArraySolver)
               for one in catalogue().solvers[s["name"]].all) else s
        for s in solvers
    ]  # fmt: skip
    return {**table, "seeds": 1, "threads": 1, "solver": placed}


def ran(tmp_path, *places):
    results = ob.run(tiny(*places), tmp_path / "s.sqlite", executor="inline", quiet=True)
    assert results.failures == []
    return {run.problem.name for run in results.records}


@pytest.mark.wide
def test_all_problems_of_the_suite_run(tmp_path):
    names = {problem["name"] for problem in tiny("numpy")["problem"]}
    assert ran(tmp_path, "numpy", "numpy/float32") == names


@pytest.mark.slow
def test_it_runs_on_pytorch(tmp_path):
    if why := place_of("torch:cpu").missing():
        pytest.skip(why)
    assert ran(tmp_path, "numpy", "torch:cpu", "torch:cpu/float32")


@pytest.mark.cuda
def test_it_runs_on_a_gpu(tmp_path):
    if why := place_of("torch:cuda").missing():
        pytest.skip(why)
    assert ran(tmp_path, "numpy", "torch:cpu", "torch:cuda", "torch:cuda/float32")


def test_it_is_refused_before_it_runs_where_a_place_is_missing(tmp_path, monkeypatch):
    def missing(place):
        return "there is none" if place.device == "cuda" else None

    monkeypatch.setattr("orthobench.tools.places.Place.missing", missing)
    with pytest.raises(ob.UsageError, match="nothing can be computed on torch:cuda: there is none"):
        ob.run("devices", tmp_path / "s.sqlite", quiet=True)
    assert not list(tmp_path.iterdir())
