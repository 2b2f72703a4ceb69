"""The mathematics of the claims on polar factors and spectral steps."""

import numpy as np
import pytest
from orthobench_papers import gram_newton_schulz as gram
from orthobench_papers import polar_runs, spel_2026
from orthobench_papers.polar_runs import (
    bfloat16,
    distance,
    float16,
    gram_newton_schulz,
    mapped,
    newton_schulz,
    polar_factor,
    polynomials,
)
from orthobench_papers.reproduce.installed import catalogue
from orthobench_papers.reproduce.runs import Evidence

paper_of = catalogue().paper


def test_bfloat16_rounds_to_eight_digits_and_half_to_even():
    assert bfloat16(np.array([1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-7, -3.0, 0.0])).tolist() == [
        1.0, 1 + 2**-6, 1 + 2**-7, -3.0, 0.0,
    ]  # fmt: skip
    values = np.random.default_rng(0).standard_normal(1000)
    assert np.abs(bfloat16(values) / values - 1).max() <= 2**-8


def test_both_forms_move_singular_values_as_their_polynomials_do():
    A = polar_runs.draw("condition 1e2, 40 x 10", np.random.default_rng(0))
    steps = polynomials("you", 5)
    values = np.linalg.svd(A)[1] / np.linalg.norm(A)
    X = newton_schulz(A, steps)
    assert np.allclose(np.sort(mapped(values, steps)), np.sort(np.linalg.svd(X)[1]), atol=1e-12)
    assert distance(gram_newton_schulz(A, steps, 2), X) < 1e-12
    assert distance(newton_schulz(A, polynomials("polar-express", 20)), polar_factor(A)) < 1e-13


NAMES = {
    name
    for provided in catalogue().papers.values()
    for claim in provided.item.claims
    for name in getattr(claim.check, "words", {}).get("draws", ())
}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_matrix_is_what_its_name_says(name):
    A = polar_runs.draw(name, np.random.default_rng(0))
    kind, shape = name.split(", ")
    assert f"{len(A)} x {A.shape[1]}" == shape
    if kind == "scaled columns":
        norms = np.linalg.norm(A, axis=0)
        assert norms[0] / norms[-1] == pytest.approx(100, rel=0.5)
    elif kind == "Cauchy":
        assert np.mean(np.abs(A) > 1) == pytest.approx(0.5, abs=0.05)
    elif kind == "Gaussian":
        assert A.std() == pytest.approx(1, abs=0.05)
    else:
        condition = float(kind.removeprefix("condition "))
        assert np.linalg.cond(A) == pytest.approx(condition, rel=1e-6)


@pytest.mark.parametrize("restart", [0, 1, 2, 5])
def test_the_gram_form_is_the_plain_one_wherever_it_restarts(restart):
    A = polar_runs.draw("condition 10, 12 x 5", np.random.default_rng(1))
    steps = polynomials("you", 5)
    assert distance(gram_newton_schulz(A, steps, restart), newton_schulz(A, steps)) < 1e-13


def test_half_precisions_are_those_of_ieee():
    assert float16(np.array([1 + 2**-11, 1 + 3 * 2**-11, 2e-8, 65504.0])).tolist() == [
        1.0, 1 + 2**-9, 0.0, 65504.0,
    ]  # fmt: skip


def test_the_gain_of_the_longest_step_is_one():
    X, G = spel_2026.pair(9, 4, 0)
    U, _, V = np.linalg.svd(G, full_matrices=False)
    assert spel_2026.gain(X, G, X - 0.1 * U @ V) == pytest.approx(1)
    for projection in (True, False):
        assert 0.5 < spel_2026.gain(X, G, spel_2026.stepped(X, G, projection)) < 1


def test_the_optimum_of_its_problem_is_known():
    made = spel_2026.ob_problem(0)
    A, N = np.empty((30, 30)), np.array([3.0, 2.0, 1.0])
    for j in range(30):
        unit = np.zeros((30, 3))
        unit[j, 2] = 1
        A[:, j] = made.oracle.gradient(unit)[:, 2] / 2
    values, vectors = np.linalg.eigh(A)
    assert values == pytest.approx(np.arange(1, 31))
    assert made.oracle.value(vectors[:, :3]) == pytest.approx(made.best["objective"])
    assert made.best["objective"] == pytest.approx(values[:3] @ N)


@pytest.mark.parametrize("aspect", [1, 2, 4])
def test_products_follow_from_the_flops_in_the_notes(aspect):
    rows = gram.products(Evidence(paper_of("gram-newton-schulz"), None, "smoke"), (aspect,))
    expected = (8 * aspect + 32) / (20 * aspect + 10)
    assert rows == {f"{aspect}:1": [pytest.approx(expected, rel=0.01)]}
