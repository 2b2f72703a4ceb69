"""The claims on polar factors and spectral steps: red if a solver breaks."""

import numpy as np
import pytest
from orthobench_papers.polar_runs import (
    bfloat16,
    conditioned,
    distance,
    gram_newton_schulz,
    mapped,
    newton_schulz,
    polar_factor,
    polynomials,
)

from orthobench.registry.plugins import catalogue
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs

PAPERS = (
    "muon-2024", "polar-express-2025", "gram-newton-schulz", "turbo-muon-2025", "spel-2026",
    "manifold-muon-2025", "oft-2026",
)  # fmt: skip
CLAIMS = [
    pytest.param(paper, claim.name, id=f"{paper.name} {claim.name}")
    for paper in map(catalogue().paper, PAPERS)
    for claim in paper.claims
]


@pytest.mark.wide
@pytest.mark.parametrize(("paper", "name"), CLAIMS)
def test_no_claim_is_red(paper, name, tmp_path):
    (one,) = check(select(paper, [name]), Runs(paper, tmp_path, quick=True, quiet=True))
    assert not one.red, one


def test_bfloat16_rounds_to_eight_digits_and_half_to_even():
    assert bfloat16(np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-7, -3.0, 0.0])).tolist() == [
        1.0, 1 + 2**-6, 1 + 2**-7, -3.0, 0.0,
    ]  # fmt: skip
    values = np.random.default_rng(0).standard_normal(1000)
    assert np.abs(bfloat16(values) / values - 1).max() <= 2**-8


def test_both_forms_move_singular_values_as_their_polynomials_do():
    A = conditioned(40, 10, 100.0)(np.random.default_rng(0))
    steps = polynomials("you", 5)
    values = np.linalg.svd(A)[1] / np.linalg.norm(A)
    X = newton_schulz(A, steps)
    assert np.allclose(np.sort(mapped(values, steps)), np.sort(np.linalg.svd(X)[1]), atol=1e-12)
    assert distance(gram_newton_schulz(A, steps, 2), X) < 1e-12
    assert distance(newton_schulz(A, polynomials("polar-express", 20)), polar_factor(A)) < 1e-13
