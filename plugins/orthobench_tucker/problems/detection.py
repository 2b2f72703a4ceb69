"""Anomalies in the projections Z = XQ of pixels: scores, ROC, sparse images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array
from orthobench.contract.exhibits import Curve

SINGULAR = 1e-12
"""Minimum variance of a direction of Z, relative to the largest."""

DIRECTIONS = 512
"""Number of random directions from which descents are chosen, besides the unit vectors."""

DESCENTS = 8
"""Number of descents, from the best directions."""

STEPS = 300
"""Maximum number of steps of a descent."""

GAIN = 1e-12
"""Relative gain below which a descent ends."""

SMALL = 1e-6
"""Size of entries at which weights are capped, in units of the mean."""


def anomaly_scores(Z: Array) -> Array:
    """Return the norms of the rows of `Z` (p, r), whitened by its second moment Z'Z / p.

    The anomaly score of Jin, Kileel, Kolda and Ward (2022, section 5.1) for centred Z; directions
    without variance are left out.
    """
    values, axes = np.linalg.eigh(Z.T @ Z / len(Z))
    kept = values > SINGULAR * values[-1]
    return np.asarray(np.linalg.norm(Z @ (axes[:, kept] / np.sqrt(values[kept])), axis=1))


def area_under_roc(scores: Array, anomalies: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve; ties count half."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(anomalies, scores))


def roc(scores: Array, anomalies: NDArray[np.bool_], reference: bool = False) -> Curve:
    """Return the corners of the ROC curve; `reference` if it is the same for all solvers."""
    from sklearn.metrics import roc_curve

    false, true, _ = roc_curve(anomalies, scores, drop_intermediate=False)
    between = _repeated(false) | _repeated(true)
    return _rates(false[~between], true[~between], reference)


def random_classifier() -> Curve:
    """Return the ROC curve of random scores."""
    ends = np.array([0.0, 1.0])
    return _rates(ends, ends, reference=True)


def _repeated(rates: Array) -> NDArray[np.bool_]:
    inside = (rates[1:-1] == rates[:-2]) & (rates[1:-1] == rates[2:])
    return np.concatenate([[False], inside, [False]])


def _rates(false: Array, true: Array, reference: bool) -> Curve:
    return Curve(false, true, "false positive rate", "true positive rate", reference)


def sparsest(Z: Array) -> Array:
    """Return a unit vector w that makes Zw sparse: a minimizer of |Zw|_1 over |w|_2 = 1.

    Jin et al. (2022, section 5.1) use MATLAB's fmincon. Descents start from the best of
    `DIRECTIONS` fixed directions. A step minimizes sum_i (z_i'w)² / |z_i'v|, v the last vector,
    which never increases |Zw|_1 (up to `SMALL`). The largest entry of Zw is positive. 2pr
    DIRECTIONS flops, and 2pr² a step.

    References
    ----------
    Tsakiris and Vidal 2018, "Dual principal component pursuit", the variant by iteratively
    reweighted least squares.
    """
    r = Z.shape[1]
    drawn = np.random.default_rng(0).standard_normal((r, DIRECTIONS))
    W = np.hstack([np.eye(r), drawn / np.linalg.norm(drawn, axis=0)])
    first = np.argsort(np.abs(Z @ W).sum(axis=0), kind="stable")[:DESCENTS]
    found = [_descent(Z, W[:, j]) for j in first]
    _, w = min(found, key=lambda pair: pair[0])
    image = Z @ w
    return w if image[np.abs(image).argmax()] >= 0 else -w


def _descent(Z: Array, w: Array) -> tuple[float, Array]:
    best, at = np.inf, w
    for _ in range(STEPS):
        sizes = np.abs(Z @ w)
        value = float(sizes.mean())
        gains = 0 < value < best * (1 - GAIN)
        if value < best:
            best, at = value, w
        if not gains:
            break
        weights = 1 / np.maximum(sizes, SMALL * value)
        w = np.linalg.eigh(Z.T @ (Z * weights[:, None]))[1][:, 0]
    return best, at
