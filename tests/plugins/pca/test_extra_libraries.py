"""SLEPc and PRIMME against LAPACK, if they are installed."""

import numpy as np
import pytest

import orthobench as ob


@pytest.mark.parametrize("shape", [(90, 24), (24, 90)])
@pytest.mark.parametrize(
    ("package", "solver", "settings"),
    [
        *(("slepc4py", "slepc-svds", {"method": m}) for m in ("trlanczos", "lanczos", "cross")),
        *(("primme", f"primme-{name}", {"tolerance": 1e-10}) for name in ("svds", "eigsh")),
    ],
)
def test_components_are_those_of_lapack(package, solver, settings, shape):
    pytest.importorskip(package, reason=f"{package} is not installed")
    X = np.random.default_rng(0).standard_normal(shape) * np.linspace(3, 1, shape[1])
    expected = np.linalg.svd(X - X.mean(axis=0))[2][:3].T
    first, again = (ob.solve(solver, ob.pca(X, 3), **settings).solution for _ in range(2))
    assert np.linalg.norm(first - expected @ (expected.T @ first), 2) < 1e-6
    assert first.tobytes() == again.tobytes()
    single = ob.solve(solver, ob.pca(X.astype(np.float32), 3), **settings).solution
    assert np.linalg.norm(single - expected @ (expected.T @ single), 2) < 1e-3


def test_no_process_of_mpi_is_left_by_a_run(tmp_path):
    pytest.importorskip("slepc4py", reason="slepc4py is not installed")
    results = ob.run(
        {"problem": [{"name": "spectrum-svd", "k": 2}], "seeds": 1, "budget": {"steps": 1},
         "solver": [{"name": "slepc-svds"}]},
        tmp_path / "s.sqlite", quiet=True,
    )  # fmt: skip
    assert results.failures == []
