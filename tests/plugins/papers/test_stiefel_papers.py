"""The claims of four papers on the Stiefel manifold: red if a solver breaks."""

import numpy as np
import pytest
from orthobench_papers import pogo_2026
from orthobench_papers.pogo_2026 import N, P, quartic, unit_gradient
from orthobench_papers.public_pca import CONDITION, matrix, pca, relative_gap, until
from orthobench_papers.rsdm_2025 import RSDM_2025
from orthobench_papers.runs import begin_trial

from orthobench.contract import random_point
from orthobench.families.stiefel import projected
from orthobench.registry.plugins import catalogue
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs

LONG = {"faster-than-descent", "faster-than-searched", "faster-in-public", "stays-feasible"}
CLAIMS = [
    pytest.param(
        paper, claim.name, id=f"{paper.name} {claim.name}",
        marks=pytest.mark.slow if paper is RSDM_2025 and claim.name in LONG else (),
    )
    for paper in map(catalogue().paper, ("wen-yin-2013", "landing-2022", "rsdm-2025", "pogo-2026"))
    for claim in paper.claims
]  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize(("paper", "name"), CLAIMS)
def test_no_claim_is_red(paper, name, tmp_path):
    (one,) = check(select(paper, [name]), Runs(paper, tmp_path, quick=True, quiet=True))
    assert not one.red, one


def test_the_public_matrix_has_other_eigenvalues_than_the_printed_one():
    values = np.linalg.eigvalsh(matrix(40, 0, printed=True))
    assert values == pytest.approx(10 * np.geomspace(1 / CONDITION, 1, 40), rel=1e-9)
    assert np.linalg.eigvalsh(matrix(40, 0, printed=False))[0] < -1


def test_the_oracle_of_pca_is_consistent():
    made = pca(9, 4, 0, printed=False)
    X = random_point(9, 4, np.random.default_rng(0))
    oracle, rows = made.oracle, np.array([5, 2])
    value, G = oracle.value_and_gradient(X)
    assert value == pytest.approx(oracle.value(X), rel=1e-14)
    assert np.allclose(oracle.gradient_rows(X, rows), G[rows], rtol=1e-14)
    best = np.linalg.eigh(oracle.A)[1][:, -4:]
    assert oracle.value(best) == pytest.approx(made.best["objective"], rel=1e-12)
    assert np.linalg.norm(projected(best, oracle.gradient(best))) < 1e-13


def test_flops_are_counted_until_the_gap():
    run = begin_trial("riemannian-gradient", pca(9, 4, 0, printed=True), 0)
    assert until(run, 1e-3, 1000) == run.state.work.flops > 0
    assert relative_gap(run) <= 1e-3
    assert until(run, 0.0, 10) == np.inf


def test_the_quartic_is_the_squared_defect():
    X = random_point(N, P, np.random.default_rng([3, 1]))
    G = unit_gradient(3)
    M = X - 0.3 * (G - X @ (G.T @ X)) / 2
    for weight in (0.0, 0.5, 1.3):
        Y = M + weight * (M - M @ M.T @ M)
        expected = np.sum((Y.T @ Y - np.eye(P)) ** 2)
        assert np.polyval(quartic(3, 0.3), weight) == pytest.approx(expected, rel=1e-9)


def test_steps_of_pogo_are_along_gradients_as_long_as_they_are(monkeypatch):
    """Twice the gradient and half of the step are the same."""
    defect, whole = pogo_2026.defect(0, 0.5), pogo_2026.unit_gradient
    monkeypatch.setattr(pogo_2026, "unit_gradient", lambda seed: 2 * whole(seed))
    assert pogo_2026.defect(0, 0.25) == pytest.approx(defect, rel=1e-9)
    assert pogo_2026.defect(0, 0.5) > 2 * defect
