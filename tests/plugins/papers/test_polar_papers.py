"""The claims on polar factors and spectral steps: red if a solver breaks."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers import (
    gram_newton_schulz as gram,
)
from orthobench_papers import (
    muon_2024,
    polar_express_2025,
    polar_runs,
    turbo_muon_2025,
)
from orthobench_papers.polar_runs import (
    bfloat16,
    cauchy,
    conditioned,
    distance,
    float16,
    gaussian,
    gram_newton_schulz,
    in_each,
    mapped,
    newton_schulz,
    off_one,
    off_unit,
    polar_factor,
    polynomials,
    scaled_columns,
)

from orthobench.registry.claims import Measurement, Verdict
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


DRAWS = [
    (f"{module.__name__} {label}", label, draw)
    for module in (gram, muon_2024, polar_express_2025, turbo_muon_2025)
    for table in vars(module).values()
    if isinstance(table, dict)
    for label, draw in table.items()
    if getattr(draw, "__module__", "") == polar_runs.__name__
]


def test_matrices_are_what_their_labels_say():
    for name, label, draw in DRAWS:
        A = draw(np.random.default_rng(0))
        n, p = A.shape
        if found := re.search(r"condition (\S+)", label):
            assert np.linalg.cond(A) == pytest.approx(float(found[1]), rel=1e-6), name
        if found := re.search(r"(\d+) x (\d+)", label):
            assert (n, p) == tuple(map(int, found.groups())), name
        if found := re.search(r"(\d+):1", label):
            assert n == int(found[1]) * p, name
        if "columns" in label:
            norms = np.linalg.norm(A, axis=0)
            assert norms[0] / norms[-1] == pytest.approx(100, rel=0.5), name
        if label == "Cauchy":
            assert np.mean(np.abs(A) > 1) == pytest.approx(0.5, abs=0.05), name
        elif "condition" not in label and "columns" not in label:
            assert A.std() == pytest.approx(1, abs=0.05), name


def test_singular_values_have_evenly_spaced_logarithms():
    values = np.linalg.svd(conditioned(9, 5, 1e4)(np.random.default_rng(0)))[1]
    assert values == pytest.approx([1, 0.1, 0.01, 1e-3, 1e-4], rel=1e-9)


def test_columns_have_evenly_spaced_scales():
    made, plain = (
        draw(np.random.default_rng(0)) for draw in (scaled_columns(9, 3), gaussian(9, 3))
    )
    assert np.allclose(plain / made, [1, 10, 100])
    assert cauchy(7, 2)(np.random.default_rng(0)).shape == (7, 2)


@pytest.mark.parametrize("restart", [0, 1, 2, 5])
def test_the_gram_form_is_the_plain_one_wherever_it_restarts(restart):
    A = conditioned(12, 5, 10.0)(np.random.default_rng(1))
    steps = polynomials("you", 5)
    assert distance(gram_newton_schulz(A, steps, restart), newton_schulz(A, steps)) < 1e-13


class Counted:
    """Rounds to bfloat16, and keeps the shapes of what it rounds."""

    def __init__(self):
        self.shapes = []

    def __call__(self, A):
        self.shapes.append(A.shape)
        return bfloat16(A)


def test_every_matrix_of_a_step_is_rounded(monkeypatch):
    rounded = Counted()
    monkeypatch.setattr(polar_runs.environment, "version", lambda name: None)
    monkeypatch.setattr(polar_runs, "PRECISIONS", {"bfloat16": rounded})
    A = gaussian(12, 5)(np.random.default_rng(0))
    X = newton_schulz(A, polynomials("you", 2), "bfloat16")
    assert rounded.shapes == [(12, 5)] + 2 * [(5, 5), (5, 5), (5, 5), (12, 5)]
    assert np.array_equal(X, bfloat16(X))
    rounded.shapes.clear()
    X = gram_newton_schulz(A, polynomials("you", 3), 2, "bfloat16")
    square = [(5, 5)] * 4
    assert rounded.shapes == [(12, 5), (5, 5), *square, *square, (12, 5), (5, 5), *square, (12, 5)]
    assert np.array_equal(X, bfloat16(X))


def test_half_precisions_are_those_of_pytorch_where_it_is_installed(monkeypatch):
    A = gaussian(6, 3)(np.random.default_rng(0))
    unit = A / np.linalg.norm(A)
    moved = SimpleNamespace(double=lambda: SimpleNamespace(numpy=lambda: unit))
    kinds = []
    theirs = SimpleNamespace(
        from_numpy=lambda X: SimpleNamespace(to=lambda kind: kinds.append(kind) or moved),
        bfloat16="half",
    )
    monkeypatch.setitem(sys.modules, "torch", theirs)
    monkeypatch.setattr(polar_runs.environment, "version", lambda name: "2.0")
    X, rounded = polar_runs.begun(A, "bfloat16")
    assert kinds == ["half"]
    assert X is moved
    assert rounded(3.7) == 3.7
    assert polar_runs.ended(X) is unit
    X, rounded = polar_runs.begun(A, "float64")
    assert np.array_equal(polar_runs.ended(X), unit)
    assert rounded(3.7) == 3.7
    monkeypatch.setattr(polar_runs.environment, "version", lambda name: None)
    X, rounded = polar_runs.begun(A, "float16")
    assert np.array_equal(X, float16(unit))
    assert rounded is float16


def test_half_precisions_are_those_of_ieee():
    assert float16(np.array([1 + 2**-11, 1 + 3 * 2**-11, 2e-8, 65504.0])).tolist() == [
        1.0, 1 + 2**-9, 0.0, 65504.0,
    ]  # fmt: skip


def test_values_that_leave_the_numbers_are_infinite():
    assert mapped(np.array([0.5, 1e200]), [(2.0, -1.5, 0.5)]).tolist() == [
        0.5 * (2 - 1.5 / 4 + 0.5 / 16), np.inf,
    ]  # fmt: skip


def test_defects_are_largest_deviations():
    X = np.diag([1.2, 0.9, 1.0])
    assert off_one(X) == pytest.approx(0.2)
    assert off_unit(X) == pytest.approx(0.44)
    assert distance(X, np.eye(3)) == pytest.approx(np.sqrt(0.05 / 3))


def test_settings_that_fail_are_marked():
    rows = {"a": Measurement(Verdict.HOLDS, 1.0), "b": Measurement(Verdict.FAILS, 2.0)}
    found = in_each(rows, "what")
    assert (found.verdict, found.value) == (Verdict.FAILS, 2.0)
    assert found.text == "what: a 1; b 2 ✗"
