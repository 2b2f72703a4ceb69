"""Former wrong answers: each is right now, or refused, or reported.

A row runs solvers on an input and reports the end with a figure: `pytest -m slow -rP
tests/plugins/test_wrong_answers.py` prints the table.
"""

import numpy as np
import pandas as pd
import pytest
from features import of_features
from small_instances import CASES, MATRIX, SAMPLES

import orthobench as ob
from orthobench.errors import OrthobenchError

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
SPIKED = RNG.standard_normal((300, 12)) * 0.7 ** np.arange(12)
DOMINANT = np.ones(6) / np.sqrt(6)
LATE = np.vstack([0.1 * RNG.standard_normal((149, 6)), 100 * DOMINANT])
SPARSE = (np.eye(30, 3) * 3 + np.eye(30, 3, -3)) @ RNG.standard_normal((3, 80))
SPARSE += 0.2 * RNG.standard_normal(SPARSE.shape)


def traces(c):
    return ob.stiefel(
        lambda X: c * float(np.vdot(X, MATRIX @ X)), lambda X: 2 * c * MATRIX @ X, n=8, p=3
    )


def last(solver, instance, budget=None, **parameters):
    return ob.solve(solver, instance, budget, seed=0, **parameters).trace[-1].metrics


def cost(solver, scales):
    """Return "right" if the value, over c, is the optimum 6, or the start's gap is closed."""
    found = [
        last(solver, traces(c), ob.Budget(steps=3000))["objective"] / c for c in (1.0, *scales)
    ]
    return ("right" if np.ptp(found) < 1e-5 * found[0] and found[0] < 6.01 else "wrong"), found


def nonzeros(solver, scales):
    found = [
        np.count_nonzero(ob.solve(solver, of_features(c * SPARSE, 3), seed=0).solution, axis=0)
        for c in (1.0, *scales)
    ]
    same = all(np.array_equal(found[0], other) for other in found)
    return ("right" if same else "wrong"), [list(map(int, counts)) for counts in found]


def subspace(solver, scales):
    """Return "right" if the error is the same in all units, and less than at the start."""
    runs = [ob.solve(solver, ob.stochastic_pca(c * SPIKED, 2), seed=0) for c in (1.0, *scales)]
    ends = [
        run.trace[-1].metrics["suboptimality"] / c**2
        for run, c in zip(runs, (1.0, *scales), strict=True)
    ]
    begun = runs[0].trace[0].metrics["suboptimality"]
    same = np.ptp(ends) <= 1e-6 * ends[0] + 1e-12
    return ("right" if same and ends[0] < begun else "wrong"), [begun, *ends]


def pairs(solver, scales):
    X, Y = SAMPLES, SAMPLES[:, :4] + 0.5
    found = [last(solver, ob.cca(c * X, Y, 2))["suboptimality"] for c in (1.0, *scales)]
    return ("right" if np.ptp(found) < 1e-9 else "wrong"), found


def pencil():
    instance = ob.generalized_eigenvectors(np.diag([1.0, -100, 0.5]), np.eye(3), 1)
    gap = last("genelink", instance, ob.Budget(steps=5000))["suboptimality"]
    return ("right" if gap < 1e-9 else "wrong"), gap


def late(solver, batch):
    outcome = ob.solve(solver, ob.stochastic_pca(LATE, 1), batch=batch, seed=0)
    share = float(DOMINANT @ outcome.solution[:, 0]) ** 2
    return ("right" if share > 0.999 and outcome.work.samples == 150 else "wrong"), share


def few(solver, count):
    samples = RNG.standard_normal((5, count)).T + 0.5
    work = ob.solve(solver, ob.symmetric_tucker(samples, rank=2, order=3), seed=0).work
    return ("right" if work.samples == count and work.steps else "wrong"), work.steps


def component(solver):
    """Return "right" at the best value on O(5), and "said" if one component was tried."""
    verdicts = {"right": 0, "said": 0, "wrong": 0}
    for seed in range(20):
        T = np.random.default_rng(seed).standard_normal((5, 5))
        best = -float(np.linalg.svd(T, compute_uv=False).sum())
        instance = ob.orthogonal_group(
            lambda U, T=T: -float(np.vdot(T, U)), lambda U, T=T: -T, n=5, best=best
        )
        try:
            outcome = ob.solve(solver, instance, ob.Budget(steps=300), seed=seed)
        except OrthobenchError as refusal:
            return "refused", str(refusal)
        stop, gap = outcome.stop, outcome.trace[-1].metrics["objective_gap"]
        said = not stop.converged or "component" in stop.reason
        verdicts["right" if gap < 1e-6 else "said" if said else "wrong"] += 1
    return ("wrong" if verdicts["wrong"] else "right" if not verdicts["said"] else "said"), verdicts


def refused(call):
    try:
        call()
    except OrthobenchError as refusal:
        return ("refused" if "\n" not in str(refusal) else "wrong"), str(refusal)
    return "wrong", "accepted"


def wrong_gradient():
    return ob.stiefel(
        lambda X: float(np.vdot(X, MATRIX @ X)) + 1e9, lambda X: -2 * MATRIX @ X, n=8, p=3
    )


def solved(**given):
    return lambda: ob.solve("history-pca", ob.stochastic_pca(SPIKED, 2), **given)


def frame():
    rows = RNG.exponential(size=(400, 4))
    plain, framed = (ob.gmm_tensor(data, 2) for data in (rows, pd.DataFrame(rows)))
    start = ob.Solution(np.eye(plain.oracle.n))
    same = plain.measure(start) == framed.measure(start)
    return ("right" if same else "wrong"), plain.measure(start)


def all_directions(n):
    X = RNG.standard_normal((n, n))
    gap = np.linalg.norm(X @ ob.solve("scipy-svds", ob.stochastic_pca(X, n)).solution)
    return ("right" if gap == pytest.approx(np.linalg.norm(X)) else "wrong"), gap


def changed():
    X = SPIKED.copy()
    instance = ob.stochastic_pca(X, 2)
    before = last("block-krylov", instance)["suboptimality"]
    X[:] = 0
    after = last("block-krylov", instance)["suboptimality"]
    return ("right" if before == after else "wrong"), (before, after)


def delivered():
    instance = of_features(SPARSE, 3, cardinality=12, each=False)
    counts = np.count_nonzero(ob.solve("aman-pg", instance, seed=0).solution, axis=0)
    return ("right" if counts.min() and counts.sum() <= 12 else "wrong"), list(map(int, counts))


ENDS = (1e-100, 1e-6, 1e6, 1e100)
STEPS = ("oja", "grassmannian-sgd", "msg", "capped-msg", "meg", "warmuth-kuzmin")
BLOCKS = ("block-krylov", "subspace-iteration", "history-pca", "incremental-pca")
GROUP = [solver for solver, family in CASES if family == "orthogonal-group"]

ROWS = {
    "wen-yin, cost x 1e-5, 1e-80": lambda: cost("wen-yin", (1e-5, 1e-80)),
    "riemannian-gradient, cost x 1e80, 1e-80": lambda: cost("riemannian-gradient", (1e80, 1e-80)),
    **{
        f"{solver}, cost x 1e-6, 1e3, 1e6": lambda solver=solver: cost(solver, (1e-6, 1e3, 1e6))
        for solver in ("landing", "pogo", "random-submanifold")
    },
    **{
        f"{solver}, data x 1e-3, 3e-4, 1e6": lambda solver=solver: nonzeros(
            solver, (1e-3, 3e-4, 1e6)
        )
        for solver in ("sklearn-sparse-pca", "sklearn-minibatch-sparse-pca")
    },
    **{
        f"{solver}, data in any unit": lambda solver=solver: subspace(solver, ENDS)
        for solver in ("ada-oja", "ccipca", *BLOCKS, *STEPS)
    },
    "cca-appgrad, x 1e6": lambda: pairs("cca-appgrad", (1e6,)),
    "genelink, diag(1, -100, .5)": pencil,
    **{
        f"{solver}, the dominant sample last, batches of {batch}": (
            lambda solver=solver, batch=batch: late(solver, batch)
        )
        for solver in ("history-pca", "vr-pca", "sklearn-incremental-pca")
        for batch in (10, 100, 200)
    },
    **{
        f"{solver}, {count} samples": lambda solver=solver, count=count: few(solver, count)
        for solver in ("shoevd", "spgd", "cp-adam", "khatri-rao-sketch")
        for count in (7, 50, 120)
    },
    **{f"{solver}, 20 linear costs on O(5)": lambda s=solver: component(s) for solver in GROUP},
    "tensorly-power-iteration, no budget": lambda: refused(
        lambda: ob.solve("tensorly-power-iteration", "odeco")
    ),
    "gmm_tensor, a DataFrame": frame,
    "ob.stiefel, cost + 1e9, gradient of the wrong sign": lambda: refused(wrong_gradient),
    **{
        f"ob.solve, {name}={value}": lambda given={name: value}: refused(solved(**given))
        for name, value in (
            ("budget", 5), ("seed", -1), ("seed", 1.5), ("threads", 1.5), ("threads", 0),
            ("threads", -1),
        )
    },
    "scipy-svds, k = n = 2": lambda: all_directions(2),
    "scipy-svds, k = n = 5": lambda: all_directions(5),
    "ob.stochastic_pca, X changed afterwards": changed,
    "aman-pg, 12 nonzeros in all": delivered,
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_no_answer_is_wrong_in_silence(row):
    verdict, figure = ROWS[row]()
    print(f"| {row} | {verdict} | {figure} |")  # noqa: T201 - with -rP it is the table
    assert verdict != "wrong", figure
