"""Real matrices: their sizes, their optimum, and files that are not there."""

import numpy as np
import pytest
from orthobench_kit.data import digits
from orthobench_pca.problems.real import CELLS, DATA, RealPCA

import orthobench as ob
from orthobench.tools.datasets import find


def test_digits_have_the_principal_components_of_their_pixels():
    outcome = ob.solve("gram-pca", RealPCA(k=5))
    pixels = digits.pixels().astype(np.float64)
    expected = np.linalg.eigvalsh(np.cov(pixels.T, bias=True))[:-6:-1]
    variances = np.var((pixels - pixels.mean(axis=0)) @ outcome.solution, axis=0)
    assert variances == pytest.approx(expected)


def test_cells_are_sparse_and_wide():
    if find(CELLS) is None:
        pytest.skip(f"{CELLS.name} is not in the data folder")
    X = DATA["cells"][0]()
    assert X.shape == (3774, 16791)
    assert X.nnz < 0.05 * X.shape[0] * X.shape[1]


def test_absent_files_and_too_many_components_are_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ORTHOBENCH_DATA", str(tmp_path))
    with pytest.raises(ob.DataError, match="data folder"):
        ob.instance(RealPCA(data="cells"))
    with pytest.raises(ob.UsageError, match="k = 65"):
        ob.instance(RealPCA(k=65))
