"""``orthobench advise``: what it prints, and how it ends."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from orthobench.atlas import consult
from orthobench.atlas.table import Atlas, AtlasRow, read, write
from orthobench.cli.main import main

SOLVERS = ("batch-pca", "oja")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return a function that calls the command, with an atlas of two solvers on two problems."""
    rows = [
        AtlasRow(
            suite="s", family="stochastic PCA", problem=f"{name} k=2", name=name, rows=1000, d=20,
            k=2, decay=1.2, noise=0.8, sparsity=0.0, solver=solver, seed=seed, metric="gap",
            start=1.0, value=(1 + 3 * i) * 1e-3 * (1 + 0.01 * seed), lowest=1e-3, seconds=0.1,
            samples=1000.0, flops=1e6, ending="budget",
        )
        for name in ("digits", "spiked-covariance")
        for i, solver in enumerate(SOLVERS)
        for seed in range(8)
    ]  # fmt: skip
    write(Atlas(tuple(rows), {"date": "2026-01-02", "machines": ["A CPU"]}), tmp_path / "a.parquet")
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.standard_normal((1500, 20)) * np.linspace(2, 1, 20))
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        done = CliRunner().invoke(main, ["advise", "--atlas", "a.parquet", *words])
        assert done.exit_code == code, done.output
        return done

    return call


def test_a_line_for_each_family(call):
    printed = call().stdout
    assert printed.startswith("stochastic PCA: lowest value: batch-pca (2 of 2)")
    assert "From the atlas of 2026-01-02: 32 runs, timed on A CPU." in printed


def test_the_answers_of_a_family(call):
    printed = call("stochastic-pca").stdout
    assert "batch-pca, on all 2 problems" in printed
    found = json.loads(call("stochastic-pca", "--json").stdout)
    assert {one["family"] for one in found} == {"stochastic PCA"}
    assert found[0]["solver"] == "batch-pca"


def test_advice_about_data_with_evidence_doubt_and_a_command(call):
    printed = call("-p", "npy-pca path=X.npy k=2").stdout
    assert (
        "Lowest value: batch-pca\n    the best on 2 problems with 8 seeds, shown on 2." in printed
    )
    assert "Near, with the largest factor between features: " in printed
    assert "on 2 of 2 (lowest value)" in " ".join(printed.split())
    assert "Check it: orthobench run -p 'npy-pca path=X.npy k=2' --seeds 10\n" in printed
    found = json.loads(call("-p", "npy-pca path=X.npy k=2", "--json").stdout)
    assert found["advice"][0]["solver"] == "batch-pca"
    assert found["features"]["d"] == 20


def test_where_no_problem_has_another_name_the_doubt_is_told(call, tmp_path):
    atlas = read(tmp_path / "a.parquet")
    rows = tuple(replace(row, name="digits") for row in atlas.rows)
    write(replace(atlas, rows=rows), tmp_path / "a.parquet")
    printed = " ".join(call("-p", "npy-pca path=X.npy k=2").stdout.split())
    assert "2 problems without those of that name, the atlas cannot tell either" in printed


def test_where_it_cannot_tell_it_says_why(call):
    np.save("X.npy", np.eye(400))
    printed = " ".join(call("-p", "npy-pca path=X.npy k=2").stdout.split())
    why = "no problem of the atlas is near: the nearest differs by a factor of"
    regimes = "Lowest value, least time, fewest samples, least flops"
    assert f"{regimes}: cannot tell, since {why}" in printed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["digit"], "did you mean 'digits'"),
        (["digits", "-p", "digits"], "or -p with your data"),
        (["--budget", "samples=3"], "--budget goes with a problem"),
        (["digits", "--budget", "much"], "such as samples=1000"),
        (["-p", "npy-pca path=none.npy k=2"], "there is no file none.npy"),
        (["-p", "npy-pac path=X.npy"], "did you mean 'npy-pca'"),
        (["-p", "stiefel-brockett"], "no problem of the family 'Stiefel manifold'"),
        (["--atlas", "none.parquet"], "cannot read the atlas none.parquet"),
        (["--atlas", "X.npy"], "X.npy"),
    ],
)
def test_errors_are_one_line(call, words, said):
    done = call(*words, code=2)
    assert said in done.stderr
    assert "Traceback" not in done.output
    assert done.stderr.splitlines()[-1].count(". ") <= ("X.npy" in words)  # pyarrow has its say


def test_without_an_atlas(monkeypatch, tmp_path):
    monkeypatch.setattr(consult, "SHIPPED", tmp_path / "none.parquet")
    done = CliRunner().invoke(main, ["advise"])
    assert done.exit_code == 2
    assert done.stderr == (
        "orthobench: no atlas came with this installation; name one with --atlas FILE, which "
        "`orthobench atlas STORE --out DIR` makes\n"
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"solver": "\x1b[2J\n"},
        {"solver": " ", "solver_parameters": "[[["},
        {"problem": "'; rm -rf", "name": "$(rm)", "parameters": '{"k": "\'"}'},
        {"d": 0, "k": 0, "decay": math.nan},
        {"d": -5, "decay": -math.inf, "noise": -9.0, "sparsity": 7.0},
        {"value": math.nan, "start": math.nan, "lowest": math.nan},
        {"seconds": math.nan, "samples": -1.0},
    ],
)
def test_an_atlas_of_a_stranger_is_data(call, tmp_path, odd):
    atlas = read(tmp_path / "a.parquet")
    everywhere = "solver" not in odd
    rows = [replace(r, **odd) if everywhere or r.solver == "oja" else r for r in atlas.rows]
    write(Atlas(tuple(rows), atlas.about), tmp_path / "a.parquet")
    named = "$(rm)" if "name" in odd else "digits"
    for words in ((), ("stochastic-pca",), (named,), ("-p", "npy-pca path=X.npy k=2")):
        assert "\x1b" not in call(*words).stdout
        assert call(*words, "--json").stdout
