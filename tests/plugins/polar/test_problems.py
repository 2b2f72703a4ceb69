"""Problems of polar factors, torch's Muon, and what is recorded of a network."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from orthobench_polar.coefficients import JORDAN
from orthobench_polar.maker import scaled
from orthobench_polar.problems import recording
from orthobench_polar.problems.spectra import (
    CauchyPolar,
    GaussianPolar,
    NetworkPolar,
    PrescribedSpectrum,
    ScaledColumns,
)
from orthobench_polar.solvers.direct import TorchMuon

import orthobench as ob
from orthobench.errors import UsageError


def built(problem):
    return problem.build(np.random.default_rng(0)).oracle


@pytest.mark.parametrize("cls", [GaussianPolar, CauchyPolar, ScaledColumns, PrescribedSpectrum])
def test_shapes_are_rows_over_columns_and_batches(cls):
    assert built(cls(p=6, aspect=1.4)).A.shape == (8, 6)
    assert built(cls(p=6)).A.shape == (6, 6)
    oracle = built(cls(p=4, aspect=2.0, batch=3))
    assert oracle.A.shape == oracle.sizes == (3, 8, 4)
    assert (oracle.n, oracle.k) == (24, 4)


def test_spectra_are_as_they_are_said():
    def values(spectrum, p=5, condition=100.0):
        return PrescribedSpectrum(p=p, spectrum=spectrum, condition=condition).values()

    np.testing.assert_allclose(values("log-uniform"), 10.0 ** -np.arange(0, 2.1, 0.5))
    assert values("clustered").tolist() == [1, 1, 1, 0.01, 0.01]
    assert values("clustered", 4).tolist() == [1, 1, 0.01, 0.01]
    power = np.log(100) / np.log(5)
    np.testing.assert_allclose(values("heavy-tail"), np.arange(1.0, 6) ** -power)
    np.testing.assert_allclose(values("heavy-tail", 2), [1, 2.0 ** -np.log(100)])
    assert np.count_nonzero(values("deficient", 8)) == 6
    assert np.count_nonzero(values("deficient", 3)) == 3


def test_columns_fall_by_the_scale():
    A = built(ScaledColumns(p=5, aspect=400.0, scale=16.0)).A
    lengths = np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(lengths / lengths[0], 2.0 ** -np.arange(5), rtol=0.1)


def test_the_seed_draws_a_training_step():
    problem = NetworkPolar(kind="weight", layer="expand")
    found = {problem.build(np.random.default_rng(s)).oracle.A.tobytes() for s in range(12)}
    assert len(found) == len(recording.RECORDED_STEPS) == 4


def test_a_matrix_is_scaled_by_a_power_of_two_to_just_below_one():
    A = np.stack([np.diag([3.0, 1.0]), np.diag([-0.5, 0.1]), np.diag([1e-300, 0.0])])
    found = scaled(A)
    assert np.abs(found[0]).max() == 0.75
    assert np.abs(found[1]).max() == 0.5
    assert 0.5 <= found[2].max() < 1


@pytest.fixture
def muon(monkeypatch):
    """Stands in for torch and its Muon."""
    torch, module = ModuleType("torch"), ModuleType("torch.optim._muon")
    torch.from_numpy = lambda A: A
    calls = []

    class Found(np.ndarray):
        def double(self):
            return SimpleNamespace(numpy=lambda: np.asarray(self, np.float64))

    def orthogonalized(A, coefficients, steps, eps):
        calls.append((A.dtype, coefficients, steps, eps))
        return A.view(Found)

    module._zeropower_via_newtonschulz = orthogonalized
    for name, value in (("torch", torch), ("torch.optim", ModuleType("torch.optim"))):
        monkeypatch.setitem(sys.modules, name, value)
    monkeypatch.setitem(sys.modules, "torch.optim._muon", module)
    return calls


def test_muon_of_torch_is_called_in_single_precision_and_counted(muon):
    A = np.random.default_rng(0).standard_normal((7, 3))
    oracle, solver = ob.polar(A).oracle, TorchMuon(count=4)
    state = solver.init(oracle, None)
    solver.step(oracle, state)
    assert muon == [(np.float32, JORDAN, 4, 1e-7)]
    product = 2 * 7 * 3**2
    done = 4 * (2 * product + 2 * 3**3 + 5 * 3**2) + 3 * 7 * 3
    assert state.work.flops == done
    found = solver.solution(state)
    assert found.products == pytest.approx(done / product)
    np.testing.assert_allclose(found.point, oracle.A, rtol=1e-6)


def test_muon_takes_one_matrix_and_needs_a_release_that_has_it(muon, monkeypatch):
    solver = TorchMuon()
    monkeypatch.setattr(TorchMuon, "missing_packages", lambda _: None)
    assert solver.refuses(GaussianPolar(p=3)) is None
    assert "one matrix at a time" in solver.refuses(GaussianPolar(p=3, batch=2))
    monkeypatch.setitem(sys.modules, "torch.optim._muon", None)
    assert "torch>=2.9" in solver.refuses(GaussianPolar(p=3))
    with pytest.raises(UsageError, match=r"torch\.optim\.Muon is not installed"):
        solver.init(ob.polar(np.eye(2)).oracle, None)


def test_the_text_that_a_network_is_trained_on_is_numbered():
    numbers = recording.encoded()
    assert set(numbers) == set(range(max(numbers) + 1))
    assert len(numbers) > 10_000


def test_recorded_matrices_have_a_largest_entry_of_one():
    for kind in ("gradient", "momentum", "weight"):
        with np.load(recording.RECORDED) as recorded:
            steps = recorded[f"{kind}_contract"]
        assert steps.dtype == np.float16
        np.testing.assert_array_equal(np.abs(steps).max(axis=(1, 2)), 1)


def test_gradients_momenta_and_weights_are_recorded_at_some_steps(monkeypatch):
    """A momentum is .95 times that before it and the gradient, each up to its scale."""
    pytest.importorskip("torch")
    monkeypatch.setattr(recording, "RECORDED_STEPS", (1, 2))
    found = recording.record()
    assert len(found) == 9
    shapes = {"attention": (2, 192, 64), "expand": (2, 256, 64), "contract": (2, 64, 256)}
    for layer, shape in shapes.items():
        gradients, momenta, weights = (
            found[f"{kind}_{layer}"].astype(float) for kind in ("gradient", "momentum", "weight")
        )
        assert gradients.shape == momenta.shape == weights.shape == shape
        np.testing.assert_array_equal(momenta[0], gradients[0])
        both = np.stack([momenta[0].ravel(), gradients[1].ravel()], axis=1)
        parts, rest, *_ = np.linalg.lstsq(both, momenta[1].ravel(), rcond=None)
        assert rest[0] < 1e-5 * np.sum(momenta[1] ** 2)
        assert min(parts) > 0
        assert np.linalg.norm(weights[1] - weights[0]) < 0.1 * np.linalg.norm(weights[0])
