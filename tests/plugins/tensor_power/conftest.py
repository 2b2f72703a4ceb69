"""Tensors with a known decomposition, with noise or without, and runs to the end."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from orthobench_kit.symmetric_tensors import composed, symmetrized
from orthobench_orthogonal_tensor import orthogonal_tensor

from orthobench.contract.solver import Status
from orthobench.tools.geometry import random_point

SPECTRA = {
    "equal": lambda d, _: np.ones(d),
    "uniform": lambda d, rng: rng.uniform(0.1, 1.0, d),
    "linear": lambda d, _: np.arange(1.0, d + 1),
    "geometric": lambda d, _: np.geomspace(1.0, 1e-3, d),
    "mixture": lambda d, rng: rng.dirichlet(np.ones(d)) ** -0.5,
}


def gaussian(d, rng):
    """A symmetric tensor of Gaussian noise, whose spectral norm hardly depends on d."""
    A = rng.standard_normal((d, d, d)) / np.sqrt(d)
    return symmetrized(sum(A.transpose(p) for p in permutations(range(3))) / 6)


def instance(weights, seed=0, noise=0.0, d=None):
    """An instance with these weights and random factors, its common start set."""
    weights = np.asarray(weights, dtype=float)
    d = d or len(weights)
    rng = np.random.default_rng([seed, d])
    V = random_point(d, d, rng)[:, : len(weights)]
    T = composed(V, weights)
    if noise:
        T = T + noise * gaussian(d, rng)
    made = orthogonal_tensor(symmetrized(T), factors=V, weights=weights)
    made.oracle.start = random_point(d, d, rng)
    return made


def spectrum(name, d, seed=0):
    return SPECTRA[name](d, np.random.default_rng([seed, d, 1]))


def begun(solver, made, seed=0):
    return solver.init(made.oracle, np.random.default_rng(seed))


def ended(solver, made, seed=0, most=10_000):
    """The state at the end of a run, which must converge."""
    state = begun(solver, made, seed)
    solver.advance(made.oracle, state, most)
    assert state.status is Status.CONVERGED
    return state


@pytest.fixture(scope="session")
def tensors():
    return SimpleNamespace(
        SPECTRA=SPECTRA, gaussian=gaussian, instance=instance, spectrum=spectrum,
        begun=begun, ended=ended,
    )  # fmt: skip
