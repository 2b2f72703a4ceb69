"""PCA of torch: what it finds of samples, and its flops, which no counter sees."""

from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_stochastic_pca.solvers.torch_pca import TorchEigh, TorchPCALowrank, TorchSVDLowrank

from orthobench.registry.plugins import catalogue
from orthobench.tools.flops import eigh, qr, svd

PACKAGES = ("torch",)

N, D, K = 60, 8, 3
SEEDED = SimpleNamespace(seed=0)


def samples(n=N, d=D):
    return np.random.default_rng(0).standard_normal((n, d)) * np.linspace(2, 1, d)


def exact(solver, X):
    """Return the flops of a decomposition whose vectors are those of LAPACK, in their order."""
    found, spent = solver.fit(X, K, SEEDED)
    right = np.linalg.svd(X)[2][:K]
    np.testing.assert_allclose(np.abs(right @ found), np.eye(K), atol=1e-10)
    return spent


def test_the_smaller_of_both_moments_is_decomposed():
    assert exact(TorchEigh(), samples()) == 2 * N * D**2 + eigh(D)
    assert exact(TorchEigh(), samples(D)) == 2 * D**3 + eigh(D)
    wide = 2 * 5**2 * D + eigh(5) + 2 * D * 5 * K + qr(D, K)
    assert exact(TorchEigh(), samples(5)) == wide


@pytest.mark.parametrize("cls", [TorchSVDLowrank, TorchPCALowrank])
def test_products_and_bases_of_random_vectors_are_counted(cls):
    _, spent = cls(oversampling=1, iterations=2).fit(samples(), K, SEEDED)
    assert spent == 4 * N * D * 4 * 3 + 3 * qr(N, 4) + 2 * qr(D, 4) + svd(D, 4)
    _, spent = cls(oversampling=1, iterations=1).fit(samples(5), K, SEEDED)
    assert spent == 4 * 5 * D * 4 * 2 + 2 * qr(D, 4) + qr(5, 4) + svd(5, 4)


@pytest.mark.parametrize("cls", [TorchSVDLowrank, TorchPCALowrank])
@pytest.mark.parametrize("shape", [(5, D), (N, 5)])
def test_no_more_vectors_are_drawn_than_there_are_and_then_it_is_exact(cls, shape):
    n, d = shape
    spent = exact(cls(oversampling=4, iterations=0), samples(n, d))
    assert spent == 4 * n * d * 5 + qr(max(n, d), 5) + svd(min(n, d), 5)


@pytest.mark.parametrize("cls", [TorchSVDLowrank, TorchPCALowrank])
def test_vectors_are_drawn_by_the_seed_alone(cls):
    import torch

    solver, X = cls(oversampling=0, iterations=0), samples()
    torch.manual_seed(1)
    first, before = solver.fit(X, K, SEEDED)[0], torch.random.get_rng_state()
    torch.manual_seed(2)
    assert np.array_equal(first, solver.fit(X, K, SEEDED)[0])
    assert not np.array_equal(first, solver.fit(X, K, SimpleNamespace(seed=1))[0])
    torch.manual_seed(1)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("cls", [TorchSVDLowrank, TorchPCALowrank])
def test_vectors_beyond_those_sought_and_power_iterations_bring_it_nearer(cls):
    X = samples(N, 40)
    right = np.linalg.svd(X)[2][:K]

    def captured(**settings):
        return np.linalg.norm(right @ cls(**settings).fit(X, K, SEEDED)[0])

    assert captured(oversampling=0, iterations=0) < captured(oversampling=10, iterations=0)
    assert captured(oversampling=0, iterations=0) < captured(oversampling=0, iterations=2)


def test_a_place_of_another_library_is_refused():
    problem = catalogue().problem("spiked-covariance")
    assert TorchEigh().refuses(problem) is None
    assert TorchEigh(on="jax").refuses(problem) == "computes with torch only, not on jax:cpu"
