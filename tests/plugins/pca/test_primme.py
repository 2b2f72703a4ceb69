"""PRIMME against LAPACK, if it is installed."""

import numpy as np
import pytest

import orthobench as ob

pytest.importorskip("primme", reason="primme is not installed")


@pytest.mark.parametrize("shape", [(90, 24), (24, 90)])
@pytest.mark.parametrize("solver", ["primme-svds", "primme-eigsh"])
def test_components_are_those_of_lapack(solver, shape):
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 1, shape[1])
    expected = np.linalg.svd(X - X.mean(axis=0))[2][:3].T
    first, again = (ob.solve(solver, ob.pca(X, 3), tolerance=1e-10).solution for _ in range(2))
    assert np.linalg.norm(first - expected @ (expected.T @ first), 2) < 1e-6
    assert first.tobytes() == again.tobytes()
    single = ob.solve(solver, ob.pca(X.astype(np.float32), 3)).solution
    assert np.linalg.norm(single - expected @ (expected.T @ single), 2) < 1e-3
