"""The checks of a problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem, Instance
from orthobench.contract.solution import Solution
from orthobench.errors import DataError
from orthobench.harness.judging import FEASIBLE
from orthobench.testing import parameter_checks, side_effects
from orthobench.testing.findings import Check, NotCheckable, NotConforming
from orthobench.testing.reaching import arrays, reached
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point

SEED = 0

PIECES = (1, 6, 13)
"""Samples that a stream is taken in."""


def check_builds(problem: AnyProblem) -> None:
    """Raise where `build` does not return an instance of what the problem says that it offers."""
    instance = _built(problem)
    oracle = instance.oracle
    if not isinstance(oracle, problem.offers):
        seen = f"the oracle is a {type(oracle).__name__}, `offers` says {problem.offers.__name__}"
        raise NotConforming(seen, "Make `offers` the type of the oracle")
    if not 1 <= oracle.k <= oracle.n:
        seen = f"the oracle has n = {oracle.n} and k = {oracle.k}"
        raise NotConforming(seen, "Set the shape (n, k) of the point sought, 1 <= k <= n")


def check_judge(problem: AnyProblem) -> None:
    """Raise where a random point is not judged: not feasible, or by other metrics than said."""
    instance = _built(problem)
    point = _point(instance, 0)
    before = point.copy()
    violation = instance.violation(Solution(point))
    if not violation <= FEASIBLE:
        seen = f"a random orthonormal point violates the constraint by {violation:.2g}"
        raise NotConforming(seen, "Pass the constraint of the family to Instance(violation=...)")
    metrics = dict(instance.measure(Solution(point)))
    _check_metrics(problem, metrics)
    if unknown := set(instance.best) - set(metrics):
        seen = f"`best` has {', '.join(sorted(unknown))}, which the judge does not report"
        raise NotConforming(seen, "Name metrics of the judge in `best`")
    if not np.array_equal(point, before):
        raise NotConforming("the judge writes into the solution", "Copy it first")
    if dict(instance.measure(Solution(point))) != metrics:
        raise NotConforming(
            "the judge measures the same solution differently each time",
            "Draw what it needs in `build`, from the generator given there",
        )


def _check_metrics(problem: AnyProblem, metrics: dict[str, Any]) -> None:
    if problem.primary not in metrics:
        seen = f"the primary metric {problem.primary!r} is not among {', '.join(metrics)}"
        raise NotConforming(seen, "Name in `primary` the metric that solvers are ranked by")
    for name, value in metrics.items():
        if not isinstance(value, float) or not math.isfinite(value):
            seen = f"the metric {name!r} of a random orthonormal point is {value!r}"
            raise NotConforming(seen, "Return finite floats: float(...)")


def check_optimum(problem: AnyProblem) -> None:
    """Raise where random points are better than the best value of the primary metric."""
    instance = _built(problem)
    best = instance.best.get(problem.primary)
    if best is None:
        return
    for seed in range(3):
        value = instance.measure(Solution(_point(instance, seed)))[problem.primary]
        if value < best - 1e-9 * max(1.0, abs(best)):
            raise NotConforming(
                f"a random point has {problem.primary} = {value:.6g}, below the best, {best:.6g}",
                "Smaller must be better: report a gap or an error, not what is maximized",
            )


def check_repeats(problem: AnyProblem) -> None:
    """Raise where two instances from the same seed differ in the data of oracle or judge."""
    one, other = _built(problem), _built(problem)
    mend = "Draw everything random from the generator given to `build`, keep nothing from before"
    ours, theirs = arrays(one.oracle), arrays(other.oracle)
    for where in ours.keys() | theirs.keys():
        if not _alike(ours.get(where), theirs.get(where)):
            seen = f"two instances from the same seed differ in oracle{where}"
            raise NotConforming(seen, mend)
    judged = [dict(instance.measure(Solution(_point(one, 0)))) for instance in (one, other)]
    if repr(judged[0]) != repr(judged[1]):
        raise NotConforming("the judges of two instances from the same seed disagree", mend)


def check_stream(problem: AnyProblem) -> None:
    """Raise where samples depend on how many are asked for at once, or rewinding is no return."""
    instance = _built(problem)
    oracle = instance.oracle
    if not hasattr(oracle, "take"):
        return
    whole = _samples(instance, [sum(PIECES)])
    if not np.array_equal(whole, _samples(instance, [sum(PIECES)])):
        seen = "the samples after `rewind` with the same generator are others"
        raise NotConforming(seen, "Begin anew in `rewind`, and draw from its generator alone")
    if not np.array_equal(whole, _samples(instance, list(PIECES))):
        seen = f"samples taken in pieces of {', '.join(map(str, PIECES))} are others"
        raise NotConforming(seen, "Draw samples in fixed blocks (orthobench.contract.sources)")


def check_hidden(problem: AnyProblem) -> None:
    """Raise where the oracle, which solvers see, holds the judge."""
    instance = _built(problem)
    judge = [instance, instance.measure, instance.exhibits]
    judge += [getattr(part, "__self__", None) for part in (instance.measure, instance.exhibits)]
    secret = {id(part) for part in judge if part is not None}
    for where, item in reached(instance.oracle):
        if id(item) in secret:
            raise NotConforming(
                f"solvers can reach the judge, by oracle{where}",
                "Keep the truth, the test part and the metrics out of the oracle",
            )


def check_global_random(problem: AnyProblem) -> None:
    """Raise where building and judging change the global random state of NumPy or Python."""
    side_effects.check_global_random(lambda: _judged(problem))


def check_silent(problem: AnyProblem) -> None:
    """Raise where building or judging prints or warns."""
    side_effects.check_silent(lambda: _judged(problem))


def _judged(problem: AnyProblem) -> None:
    instance = _built(problem)
    instance.measure(Solution(_point(instance, 0)))


def _built(problem: AnyProblem) -> AnyInstance:
    try:
        instance: object = problem.build(np.random.default_rng(SEED))
    except DataError as error:
        raise NotCheckable(f"its data are not here: {error}") from error
    if isinstance(instance, Instance):
        return instance
    seen = f"build returns a {type(instance).__name__}"
    raise NotConforming(seen, "Return an orthobench.contract.problem.Instance")


def _point(instance: AnyInstance, seed: int) -> Array:
    oracle = instance.oracle
    return random_point(oracle.n, oracle.k, np.random.default_rng(seed))


def _samples(instance: AnyInstance, counts: list[int]) -> Array:
    oracle = instance.oracle
    oracle.rewind(np.random.default_rng(SEED))
    taken = []
    for count in counts:
        oracle.prepare(count)
        taken.append(oracle.take(int(min(count, oracle.remaining()))).copy())
    return np.concatenate(taken)


def _alike(a: Array | None, b: Array | None) -> bool:
    return a is not None and b is not None and a.shape == b.shape and a.tobytes() == b.tobytes()


BUILDS = Check("builds", "build returns the instance that the problem announces", check_builds)
FIRST = (BUILDS,)
REPEATS = Check("repeats", "the same seed gives the same data", check_repeats, FIRST)

CHECKS: tuple[Check, ...] = (
    BUILDS,
    Check("judge", "a random point is feasible and has finite metrics", check_judge, FIRST),
    Check("optimum", "no random point is better than the best", check_optimum, FIRST),
    REPEATS,
    Check("stream", "samples do not depend on how they are taken", check_stream, FIRST),
    Check("hidden", "solvers cannot reach the judge", check_hidden, FIRST),
    Check("random", "global random states are left as they are", check_global_random, FIRST),
    Check("silent", "nothing is printed, nothing warned of", check_silent, FIRST),
    Check("parameters", "wrong parameters are refused by name", parameter_checks.check_parameters),
    Check(
        "recipe",
        "recipes compare, hash and pickle, and hold no data",
        parameter_checks.check_recipe,
    ),
)
"""Every check of a problem, in the order in which they are made."""
