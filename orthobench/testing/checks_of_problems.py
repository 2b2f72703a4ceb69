"""The checks of a small problem: `CHECKS`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Solution
from orthobench.errors import DataError, UsageError
from orthobench.harness.executors.messages import packed
from orthobench.harness.judging import FEASIBLE
from orthobench.testing.check import NotCheckable, NotConforming, check, require
from orthobench.testing.shared_checks import DECLARATION, of_side_effects
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point
from orthobench.tools.object_graph import arrays, walk

SEED = 0

DRAW = (
    "Draw all that is random in `build`, from the generator given there, and keep nothing between"
)

PIECES = (1, 6, 13)
"""Numbers of samples taken at once."""


@check()
def builds(problem: AnyProblem) -> None:
    """Require that build returns an instance of the type announced."""
    oracle, offers = _built(problem).oracle, problem.offers
    observed = f"the oracle is a {type(oracle).__name__}, and `offers` is {offers.__name__}"
    require(isinstance(oracle, offers), observed, "Set `offers` to the type of the oracle")
    observed = f"the oracle has n = {oracle.n} and k = {oracle.k}"
    require(1 <= oracle.k <= oracle.n, observed, "Set the shape (n, k) of the point, 1 <= k <= n")


@check(builds)
def judge(problem: AnyProblem) -> None:
    """Require that a random point is feasible, with finite metrics."""
    instance = _built(problem)
    solution = _random(instance, 0)
    before = solution.point.copy()
    violation = instance.violation(solution)
    observed = f"a random point, made feasible, violates the constraint by {violation:.2g}"
    remedy = "Pass the constraint and what makes points feasible: Instance(violation=, nearest=)"
    require(violation <= FEASIBLE, observed, remedy)
    metrics: dict[str, Any] = dict(instance.measure(solution))
    observed = f"the primary metric {problem.primary!r} is not among {', '.join(metrics)}"
    require(problem.primary in metrics, observed, "Set `primary` to the metric that ranks solvers")
    for name, value in metrics.items():
        observed = f"the metric {name!r} of a random point is {value!r}"
        finite = isinstance(value, float) and math.isfinite(value)
        require(finite, observed, "Return finite floats: float(...)")
    unknown = ", ".join(sorted(instance.best.keys() - metrics.keys()))
    observed = f"`best` has {unknown}, which the judge does not report"
    require(not unknown, observed, "Name metrics of the judge in `best`")
    same = np.array_equal(solution.point, before)
    require(same, "the judge writes into the solution", "Copy what it changes")
    again = dict(instance.measure(solution)) == metrics
    require(again, "the judge measures the same solution otherwise again", DRAW)


@check(builds)
def optimum(problem: AnyProblem) -> None:
    """Require that no random point is better than the best."""
    instance = _built(problem)
    best = instance.best.get(problem.primary)
    if best is None:
        return
    for seed in range(3):
        value = instance.measure(_random(instance, seed))[problem.primary]
        observed = f"a random point has {problem.primary} = {value:.6g}, below the best, {best:.6g}"
        remedy = "Make smaller values better: report a gap or an error, not what is maximized"
        require(value >= best - 1e-9 * max(1.0, abs(best)), observed, remedy)


@check(builds)
def repeats(problem: AnyProblem) -> None:
    """Require that the same seed gives the same data."""
    one, other = _built(problem), _built(problem)
    ours, theirs = ({path: (a.shape, a.tobytes()) for path, a in arrays(each.oracle).items()}
                    for each in (one, other))  # fmt: skip
    for path in ours.keys() | theirs.keys():
        observed = f"two instances from the same seed differ in oracle{path}"
        require(ours.get(path) == theirs.get(path), observed, DRAW)
    metrics = {repr(dict(each.measure(_random(one, 0)))) for each in (one, other)}
    require(len(metrics) == 1, "the judges of two instances from the same seed disagree", DRAW)


@check(builds)
def stream(problem: AnyProblem) -> None:
    """Require that samples do not depend on how they are taken."""
    instance = _built(problem)
    if not hasattr(instance.oracle, "take"):
        return
    whole = _samples(instance, [sum(PIECES)])
    same = np.array_equal(whole, _samples(instance, [sum(PIECES)]))
    require(same, "samples after `rewind` are others", "Begin again, and draw from its generator")
    same = np.array_equal(whole, _samples(instance, PIECES))
    observed = f"samples taken in pieces of {PIECES} are others than those taken at once"
    require(same, observed, "Draw samples in fixed blocks (orthobench_kit.sources)")


@check(builds)
def hidden(problem: AnyProblem) -> None:
    """Require that solvers cannot reach the judge."""
    instance = _built(problem)
    judge = [instance, instance.measure, instance.exhibits]
    judge += [getattr(part, "__self__", None) for part in (instance.measure, instance.exhibits)]
    hidden = {id(part) for part in judge if part is not None}
    remedy = "Keep the truth, the test data and the metrics out of the oracle"
    for path, item in walk(instance.oracle):
        require(id(item) not in hidden, f"solvers can reach the judge, by oracle{path}", remedy)


@check(builds)
def sent(problem: AnyProblem) -> None:
    """Require that the oracle can be sent to the process of a solver."""
    try:
        packed(_built(problem).oracle, problem.name)
    except UsageError as error:
        remedy = "Keep arrays, numbers and functions in it, no files, locks or generators"
        raise NotConforming(f"the oracle cannot be pickled: {error.__cause__}", remedy) from error


def _built(problem: AnyProblem) -> AnyInstance:
    try:
        instance: object = problem.build(np.random.default_rng(SEED))
    except DataError as error:
        raise NotCheckable(f"its data are missing or unfit: {error}") from error
    if isinstance(instance, Instance):
        return instance
    observed = f"build returns a {type(instance).__name__}"
    raise NotConforming(observed, "Return an orthobench.contract.Instance")


def _random(instance: AnyInstance, seed: int) -> Solution:
    """Return a random feasible point."""
    oracle = instance.oracle
    drawn = Solution(random_point(oracle.n, oracle.k, np.random.default_rng(seed)))
    feasible = instance.violation(drawn) <= FEASIBLE
    return drawn if feasible else instance.nearest(drawn)


def _samples(instance: AnyInstance, counts: Sequence[int]) -> Array:
    oracle = instance.oracle
    oracle.rewind(np.random.default_rng(SEED))
    taken = []
    for count in counts:
        oracle.prepare(count)
        taken.append(oracle.take(int(min(count, oracle.remaining()))).copy())
    return np.concatenate(taken)


def _judged(problem: AnyProblem) -> object:
    instance = _built(problem)
    return instance.measure(_random(instance, 0))


CHECKS = (
    builds, judge, optimum, repeats, stream, hidden, sent,
    *of_side_effects(_judged, builds)[:2], *DECLARATION,
)  # fmt: skip
"""Every check of a problem, in order."""
