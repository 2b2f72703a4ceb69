"""The mathematics of the claims on polar factors and spectral steps."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_papers import (
    gram_newton_schulz as gram,
)
from orthobench_papers import (
    manifold_muon_2025,
    muon_2024,
    oft_2026,
    polar_express_2025,
    polar_runs,
    spel_2026,
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
from orthobench.reproduce.runs import Runs

paper_of = catalogue().paper


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


def test_a_matrix_far_from_one_is_no_number_of_steps():
    with pytest.raises(RuntimeError, match="cubic has not come near in 60 steps"):
        polar_express_2025.steps_to(np.diag([1, 1e-30]), "cubic")


def test_the_schedule_of_you_goes_on_with_the_classical_one():
    steps = polar_express_2025.schedule("you")
    assert len(steps) == 20
    for a, b, c in steps[5:]:
        assert a + b + c == 1
        assert a + 3 * b + 5 * c == 0


class TestManifoldMuon:
    def test_tangency_is_a_root_mean_square(self):
        X = np.eye(6, 3)
        assert manifold_muon_2025.off_tangent(X, X) == pytest.approx(2 / np.sqrt(3))
        assert manifold_muon_2025.off_tangent(X, np.eye(6)[:, 3:]) == 0

    def test_a_direction_is_made_tangent_and_cut_to_norm_one(self):
        X, G = np.eye(4, 2), np.ones((4, 2))
        A = np.array([[5, 0], [0, 5], [0.5, 0], [0, 0.5]])
        assert manifold_muon_2025.gain(X, G, A) == pytest.approx(1)
        assert manifold_muon_2025.gain(X, G, 100 * A) == pytest.approx(2)

    def test_dual_steps_are_counted_by_flops(self, monkeypatch):
        def solved(X, G, dual_steps=7, **_):
            return None, 1000 + 30 * dual_steps

        monkeypatch.setattr(manifold_muon_2025, "solved", solved)
        assert manifold_muon_2025.dual_steps(None, None) == 7

    def test_a_small_direction_is_tangent(self):
        X, G = manifold_muon_2025.pair(8, 4, 0)
        A, spent = manifold_muon_2025.solved(X, G)
        assert manifold_muon_2025.off_tangent(X, A) < 2e-3
        assert spent > 0
        assert np.allclose(manifold_muon_2025.pair(8, 4, 0, 100.0)[1], 100 * G)


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


def test_errors_are_spectral_norms_of_the_defect():
    assert oft_2026.defect(np.diag([1.5, 1, 0.5])) == pytest.approx(1.25)


def test_terms_are_five():
    Q = oft_2026.skew(0.3, 0)
    powers = [np.linalg.matrix_power(Q, i) for i in range(6)]
    series = (np.eye(32) + Q) @ sum(powers[:5])
    assert np.allclose(oft_2026.neumann(Q), series, atol=1e-14)


@pytest.mark.parametrize("aspect", [1, 2, 4])
def test_products_follow_from_the_flops_in_the_notes(aspect):
    found = gram.products(Runs(paper_of("gram-newton-schulz"), None, "smoke"), (aspect,), 9)
    assert found.value == pytest.approx((8 * aspect + 32) / (20 * aspect + 10), rel=0.01)
