"""`orthobench.estimators.PCA` against scikit-learn's `PCA`, each as its users get it by default.

Both sides take turns in one process, in CPU seconds of one thread; of the first calls and of later
ones the ratios are reported apart. Ours is exact, scikit-learn's randomized on most large shapes:
ours must explain at least as much variance.
"""

from __future__ import annotations

from functools import cache
from time import process_time

import numpy as np
import pytest
from scipy.sparse import random_array
from sklearn.decomposition import PCA
from smoke import usually

from orthobench import estimators

DENSE = usually(
    [
        (150, 4, 2), (1797, 64, 10), (1797, 64, 64), (300, 300, 10), (400, 400, 400),
        (1000, 50, 5), (10_000, 20, 5), (100_000, 20, 10), (30_000, 400, 10), (30_000, 400, 400),
        (200_000, 100, 10), (20_000, 784, 50), (5000, 1000, 20), (5000, 2000, 10),
        (3000, 3000, 10), (5000, 2000, 50), (2000, 2000, 100), (1000, 1000, 300),
        (72, 7129, 10), (72, 7129, 70), (500, 20_000, 10), (2000, 8000, 10), (1000, 5000, 50),
        (600, 700, 5),
    ],
    smoke=[(60, 5, 2), (10, 40, 3)],
)  # fmt: skip
SPARSE = usually(
    [
        (3000, 2000, 10, 0.05), (10_000, 300, 10, 0.1), (20_000, 5000, 20, 0.01),
        (5000, 20_000, 10, 0.01), (2000, 500, 5, 0.02), (30_000, 2000, 50, 0.03),
    ],
    smoke=[(80, 30, 3, 0.2)],
)  # fmt: skip
TURNS = usually(3, smoke=1)
MEAN, WORST, SHORT = usually((1.3, 0.95, 0.02), smoke=(0.0, 0.0, 0.0))
LOST = 1e-7
"""Share of the variance of scikit-learn's components that ours may lack."""

RATIOS: dict[str, list[float]] = {"first": [], "later": []}


@cache
def dense(rows, d):
    rng = np.random.default_rng(0)
    return rng.standard_normal((rows, d)) * np.arange(1.0, d + 1) ** -0.5 + 1.0


@cache
def sparse(rows, d, density):
    X = random_array((rows, d), density=density, format="csr", random_state=0)
    return (X * np.arange(1.0, d + 1) ** -0.5).tocsr()


def seconds(make, X):
    begin = process_time()
    fitted = make.fit(X)
    return process_time() - begin, fitted


@pytest.mark.parametrize("case", [*DENSE, *SPARSE], ids=lambda case: "x".join(map(str, case)))
def test_pca_is_as_fast_as_that_of_scikit_learn(benchmark, beside, report, case):
    rows, d, k, *density = case
    X = sparse(rows, d, *density) if density else dense(rows, d)
    ours, theirs = [], []
    for _ in range(TURNS + 1):
        spent, other = seconds(PCA(k, random_state=0), X)
        theirs.append(spent)
        spent, own = seconds(estimators.PCA(k), X)
        ours.append(spent)
    explained = own.explained_variance_.sum() / other.explained_variance_.sum()
    assert explained > 1 - LOST
    for kind, part in (("first", slice(1)), ("later", slice(1, None))):
        ratio = min(theirs[part]) / max(min(ours[part]), 1e-9)
        RATIOS[kind].append(ratio)
        long = max(min(ours[part]), min(theirs[part])) > SHORT
        met = "met" if ratio >= WORST or not long else "MISSED"
        row = f"{min(theirs[part]):.3g}", f"{min(ours[part]):.3g}", f"{ratio:.2f}"
        report(f"PCA, {kind}: {own.solver_}", case, k, *row, f"above {WORST} {met}", "-")
    benchmark.group = f"PCA {case}"
    benchmark.pedantic(estimators.PCA(k).fit, args=(X,), rounds=1)
    beside({"scikit-learn": theirs})


def test_the_geometric_mean_of_the_ratios(benchmark, report):
    benchmark.group = "PCA, all shapes"
    benchmark.pedantic(lambda: None, rounds=1)
    for kind, ratios in RATIOS.items():
        mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")
        met = "met" if mean >= MEAN else "MISSED"
        report(f"PCA, {kind}", f"{len(ratios)} shapes", "-", "-", "-", f"{mean:.2f}", met, "-")
