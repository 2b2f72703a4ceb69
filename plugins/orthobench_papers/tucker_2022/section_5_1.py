"""Section 5.1, Figures 6 to 8: aircraft in a hyperspectral image."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

import orthobench as ob
from orthobench.contract import Array
from orthobench.contract.exhibits import Curve, Exhibit, Image
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.drawing import band, over_seeds
from orthobench_papers.reproduce import Evidence, Measurement, Rows, always_within, together
from orthobench_papers.runs import begin, instance

PHASES = {"SHOEVD": "section-5-1-phase-1", "SPGD": "section-5-1"}
"""The suite at whose end each method is judged."""

PARAMETERS = {"batch": 100, "step": 0.5, "hoevd_steps": 500, "hoevd_step": 0.35}
"""Parameters of the solver in the suite."""

STEPS = (500, 1500)
"""Steps of its two phases."""


class Scene(NamedTuple):
    """A run's sparse detection image, the anomalies, and rates of the ROC curve."""

    sparse: Array
    anomalies: NDArray[np.bool_]
    false: Array
    true: Array


def scenes(evidence: Evidence, method: str) -> list[Scene]:
    """Return the scenes of a method, seed by seed."""
    shown = evidence.exhibits(PHASES[method], "hsi-anomaly", "spgd")
    return [_scene(each, "sparse detection image", "ROC") for each in shown]


@cache
def covariance() -> Scene:
    """Return the scene of PCA of the covariance."""
    made = instance("hsi-anomaly", 0)
    shown = made.exhibits(ob.Solution(np.eye(made.oracle.n, made.oracle.k)))
    return _scene(shown, "sparse detection image of PCA", "PCA of the covariance")


def _scene(shown: Mapping[str, Exhibit], image: str, curve: str) -> Scene:
    sparse, truth = (cast(Image, shown[name]).values for name in (image, "anomalies"))
    rates = cast(Curve, shown[curve])
    false, true = rates.x.astype(np.float64), rates.y.astype(np.float64)
    return Scene(sparse.astype(np.float64), truth > 0, false, true)


def size(_: Evidence) -> Measurement:
    oracle = instance("hsi-anomaly", 0).oracle
    return together([
        always_within([oracle.n], 191, 191, "bands"),
        always_within([len(oracle.X)], 10_000, 10_000, "pixels"),
    ])  # fmt: skip


def areas(evidence: Evidence, method: str) -> Array:
    """Return the areas under the ROC curve, seed by seed."""
    return evidence.finals(PHASES[method], "hsi-anomaly", "spgd", "roc_auc")


def area(evidence: Evidence, method: str) -> tuple[Array, dict[str, float]]:
    """Return the areas of batches in column-major order, and medians in other orders."""
    others = {}
    for pixels in ("random", "row-major"):
        suite, problem = f"{PHASES[method]}-orders", f"hsi-anomaly pixels={pixels}"
        others[pixels] = np.median(evidence.finals(suite, problem, "spgd", "roc_auc"))
    return areas(evidence, method), {"random": others["random"], "rows": others["row-major"]}


def better(evidence: Evidence) -> Array:
    return (1 - areas(evidence, "SPGD")) / (1 - areas(evidence, "SHOEVD"))


def principal(_: Evidence) -> list[float]:
    return [area_under(covariance())]


def area_under(shown: Scene) -> float:
    """Return the area under the ROC curve of one run."""
    return float(np.sum(np.diff(shown.false) * (shown.true[1:] + shown.true[:-1])) / 2)


def above(evidence: Evidence) -> Rows:
    """Return the least difference of detection rates to PCA's over all rates of false alarms.

    Counts at which PCA's rate is zero or one are left out. There are more seeds than in the suite.
    """
    made = instance("hsi-anomaly", 0)
    X, anomalies = made.oracle.X, covariance().anomalies.ravel(order="F")
    base = detected(X[:, : made.oracle.k], anomalies)
    open_, least = (base > 0) & (base < 1), []
    for seed in evidence.seeds[: evidence.sized(200, 20)]:
        run = begin("spgd", made, seed, **PARAMETERS)
        rates = (detected(X @ run.advance(steps).point, anomalies) for steps in STEPS)
        least.append([np.min((found - base)[open_]) for found in rates])
    each = zip(PHASES, np.array(least).T, strict=True)
    return {f"{m} ({np.sum(v > 0)} of {len(v)} curves strictly above)": v for m, v in each}


def detected(Z: Array, anomalies: NDArray[np.bool_]) -> Array:
    """Return the detection rate at each count of false alarms.

    Scores are the norms of the rows of Z, whitened (Jin et al. 2022, section 5.1).
    """
    scores = np.linalg.norm(np.linalg.qr(Z)[0], axis=1)
    alarms = np.sort(scores[~anomalies])[::-1]
    missed = np.searchsorted(np.sort(scores[anomalies]), alarms, side="right")
    return np.asarray(1 - missed / anomalies.sum())


def hits(shown: Scene) -> float:
    """Return the share of anomalies among as many brightest pixels."""
    count = int(shown.anomalies.sum())
    brightest = np.argsort(np.abs(shown.sparse), axis=None)[-count:]
    return float(shown.anomalies.ravel()[brightest].mean())


def pronounced(evidence: Evidence) -> Rows:
    return {method: [hits(found) for found in scenes(evidence, method)] for method in PHASES}


def hidden(_: Evidence) -> list[float]:
    return [hits(covariance())]


def contrast(shown: Scene) -> float:
    """Return the mean brightness of anomalies over that of other pixels."""
    bright = np.abs(shown.sparse)
    return float(bright[shown.anomalies].mean() / bright[~shown.anomalies].mean())


def clearest(evidence: Evidence) -> tuple[Array, dict[str, float]]:
    first, second = (
        np.array([contrast(found) for found in scenes(evidence, method)]) for method in PHASES
    )
    words = {"shoevd": np.median(first), "spgd": np.median(second), "pca": contrast(covariance())}
    return second / first, words


def draw(evidence: Evidence) -> dict[str, Panel]:
    at = np.concatenate([np.linspace(0, 0.02, 101), np.linspace(0.02, 1, 197)[1:]])
    series = []
    for method in (*PHASES, "PCA"):
        runs = [covariance()] if method == "PCA" else scenes(evidence, method)
        rates = np.array([np.interp(at, run.false, run.true) for run in runs])
        label = f"{method}, area {np.median([area_under(run) for run in runs]):.4f}"
        series.append(over_seeds(label, at, rates.T, method))
    x = Axis("false", "false positive rate", log=False)
    y = Axis("true", "true positive rate", log=False)
    chance = np.array([0.0, 1.0])
    whole = (*series, Series("random classifier", chance, chance))
    return {"ROC": Panel(x, y, whole, band=band(len(scenes(evidence, "SPGD"))))}
