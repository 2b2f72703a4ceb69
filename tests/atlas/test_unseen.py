"""Advice on data that the atlas has not seen, against what all methods do there.

    pytest -m slow -s tests/atlas/test_unseen.py

prints for each data set which method was named, and its median final value divided by the best one.
"""

import numpy as np
import pytest

import orthobench as ob
from orthobench.atlas.choice import TOLERANCE
from orthobench.atlas.consult import SHIPPED, on_data, opened
from orthobench.contract.parameters import parameters_of
from orthobench.registry.plugins import catalogue
from orthobench.stats.values import final, metric_of

SEEDS = 5


def breast_cancer():
    """Return 569 cell nuclei, 30 standardized features, shipped with scikit-learn; k = 4."""
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data
    return (X - X.mean(axis=0)) / X.std(axis=0), 4


def patches():
    """Return patches of 8 x 8 pixels of a photograph shipped with scikit-learn; k = 6."""
    from sklearn.datasets import load_sample_image

    grey = load_sample_image("china.jpg").mean(axis=2)
    rng = np.random.default_rng(0)
    tops, lefts = (rng.integers(0, size - 8, 3000) for size in grey.shape)
    X = np.array([grey[i : i + 8, j : j + 8].ravel() for i, j in zip(tops, lefts, strict=True)])
    return X - X.mean(), 6


def heavy_tails():
    """Return samples with 4 degrees of freedom (Student's t) and a power-law spectrum; k = 3."""
    rng = np.random.default_rng(1)
    X = rng.standard_t(4, (2500, 80)) * np.arange(1, 81) ** -0.5
    return X @ np.linalg.qr(rng.standard_normal((80, 80)))[0], 3


def ratio_to_best(atlas, data, folder):
    """Return the solver that is named for some data, and how far behind the best it ends there.

    Parameters
    ----------
    atlas : Atlas
    data : callable
        Returns the samples in rows, and k.
    folder : Path
        For the data, and for the store of the runs.
    """
    X, k = data()
    path = folder / f"{data.__name__}.npy"
    np.save(path, X)
    parameters = {"path": str(path), "k": k, "shuffle": True}
    problem = catalogue().problem("npy-pca", parameters)
    (advice, *_) = on_data(atlas, problem, "npy-pca").advice
    if not advice.solver:
        return "", advice.why, 1.0
    rows = [row for row in atlas.rows if row.family == problem.family]
    names = dict.fromkeys(row.solver for row in rows if row.problem == advice.near[0].problem)
    results = ob.run(_suite(parameters, names), folder / f"{data.__name__}.sqlite", quiet=True)
    ends = {
        entry.solver: np.median([final(r, metric_of(r.problem.primary)) for r in entry.records])
        for entry in results.entries
    }
    best = min(ends, key=ends.__getitem__)
    return advice.solver, best, float(ends[advice.solver] / ends[best])


def _suite(parameters, names):
    known = catalogue().solvers
    solvers = [
        {"name": name} | {p.name: {"tune": True} for p in parameters_of(known[name].item) if p.grid}
        for name in names
        if name in known
    ]
    problem = {"name": "npy-pca", **parameters}
    return {"seeds": SEEDS, "budget": {"samples": 1000}, "problem": [problem], "solver": solvers}


@pytest.mark.slow
@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
@pytest.mark.parametrize("data", [breast_cancer, patches, heavy_tails])
def test_the_method_named_is_close_to_the_best_or_it_cannot_tell(data, tmp_path):
    named, best, ratio = ratio_to_best(opened(None), data, tmp_path)
    told = f"{named}: {ratio:.3g} times the best, {best}" if named else f"cannot tell, since {best}"
    print(f"\n{data.__name__}: {told}")  # noqa: T201 - what the test is run for
    assert ratio <= TOLERANCE
