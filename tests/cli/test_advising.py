"""``orthobench advise``: what it prints, and how it ends."""

import json
from functools import partial

import numpy as np
import pytest
from commands import typed

from orthobench.atlas.table import Atlas, AtlasRow, write

SOLVERS = ("batch-pca", "oja")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that calls the command, with an atlas of two solvers on two problems."""
    rows = [
        AtlasRow(
            suite="s", family="stochastic PCA", problem=f"{name} k=2", name=name, rows=1000, d=20,
            k=2, decay=1.2, noise=0.8, sparsity=0.0, solver=solver, solver_name=solver,
            seed=seed, metric="gap", start=1.0, value=(1 + 300 * i) * 1e-3 * (1 + 0.01 * seed),
            lowest=1e-3, seconds=0.1, samples=1000.0, flops=1e6, ending="done",
        )
        for name in ("digits", "spiked-covariance")
        for i, solver in enumerate(SOLVERS)
        for seed in range(8)
    ]  # fmt: skip
    write(Atlas(tuple(rows), {"date": "2026-01-02", "machines": ["A CPU"]}), tmp_path / "a.parquet")
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.standard_normal((1500, 20)) * np.linspace(2, 1, 20))
    monkeypatch.chdir(tmp_path)
    return partial(typed, "advise", "--atlas", "a.parquet")


def test_a_line_for_each_family(call):
    printed = " ".join(call().stdout.split())
    assert printed.startswith("stochastic PCA: least time: batch-pca (2 of 2 tested, 1)")
    assert "From the atlas of 2026-01-02: 32 runs, timed on A CPU." in printed


def test_the_answers_of_a_family_or_of_that_of_a_problem(call):
    told = " ".join(call("stochastic-pca").stdout.split())
    assert "Use batch-pca: within 1 % " in told
    assert " on both problems, in 16 of 16 runs" in told
    found = json.loads(call("stochastic-pca", "--json").stdout)
    assert {one["family"] for one in found} == {"stochastic PCA"}
    assert found[0]["use"] == "batch-pca"
    assert call("digits").stdout == call("stochastic-pca").stdout


def test_advice_about_data_with_a_command(call):
    printed = " ".join(call("-p", "npy-stochastic-pca path=X.npy k=2").stdout.split())
    # two problems without a loss, and a quarter of a miss: 10 ** (0.25 / 2.25)
    assert printed.startswith("Use batch-pca: expect 1.3 times the least time plus 100 ms, judged")
    assert "often wrong: orthobench race -p 'npy-stochastic-pca path=X.npy k=2'" in printed
    assert printed.endswith("outcome = ob.solve('batch-pca', problem) print(outcome.solution)")
    found = json.loads(call("-p", "npy-stochastic-pca path=X.npy k=2", "--json").stdout)
    assert found["use"] == "batch-pca"
    assert found["features"]["d"] == 20


def test_errors_are_one_line(call):
    for words, said in (
        (["digit"], "did you mean 'digits'"),
        (["digits", "-p", "digits"], "your data with -p"),
        (["--cost", "money"], "'money' is not one of"),
        (["-p", "digits", "--tolerance", "3"], "between 0 and 1"),
        (["-p", "npy-stochastic-pca path=none.npy k=2"], "there is no file none.npy"),
        (["-p", "npy-pac path=X.npy"], "did you mean 'npy-pca'"),
        (["-p", "stiefel-brockett"], "no problem of the family 'Stiefel manifold'"),
        (["--atlas", "none.parquet"], "cannot read the atlas none.parquet"),
        (["--atlas", "X.npy"], "X.npy"),
    ):
        done = call(*words, code=2)
        assert said in done.stderr, words
        assert "Traceback" not in done.output, words


def test_options_for_data_are_refused_for_a_family(call):
    for words in (["pca", "--cost", "samples"], ["--tolerance", "0.001"]):
        assert "name them with -p" in call(*words, code=2).stderr, words
