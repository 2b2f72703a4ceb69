"""The checks of a problem, with parameters that make it small: `CHECKS`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orthobench.contract.problem import AnyInstance, AnyProblem, Instance, Solution
from orthobench.errors import DataError, UsageError
from orthobench.harness.executors.messages import packed
from orthobench.harness.judging import FEASIBLE
from orthobench.testing import shared_checks
from orthobench.testing.check import Check, NotCheckable, NotConforming
from orthobench.testing.object_graph import arrays, walk
from orthobench.testing.shared_checks import check_parameters, check_recipe
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point

SEED = 0

PIECES = (1, 6, 13)
"""Numbers of samples that are taken at once, to see whether the samples depend on them."""


def check_builds(problem: AnyProblem) -> None:
    """Raise where `build` does not return an instance with an oracle of the type announced."""
    instance = _built(problem)
    oracle = instance.oracle
    if not isinstance(oracle, problem.offers):
        actual, announced = type(oracle).__name__, problem.offers.__name__
        observed = f"the oracle is a {actual}, and `offers` is {announced}"
        raise NotConforming(observed, "Set `offers` to the type of the oracle")
    if not 1 <= oracle.k <= oracle.n:
        observed = f"the oracle has n = {oracle.n} and k = {oracle.k}"
        raise NotConforming(observed, "Set the shape (n, k) of the point sought, 1 <= k <= n")


def check_judge(problem: AnyProblem) -> None:
    """Raise where a random point is infeasible, or its metrics are not those announced."""
    instance = _built(problem)
    point = _point(instance, 0)
    before = point.copy()
    violation = instance.violation(Solution(point))
    if not violation <= FEASIBLE:
        observed = f"a random orthonormal point violates the constraint by {violation:.2g}"
        raise NotConforming(observed, "Pass the family's constraint to Instance(violation=...)")
    metrics = dict(instance.measure(Solution(point)))
    _check_metrics(problem, metrics)
    if unknown := set(instance.best) - set(metrics):
        observed = f"`best` has {', '.join(sorted(unknown))}, which the judge does not report"
        raise NotConforming(observed, "Name metrics of the judge in `best`")
    if not np.array_equal(point, before):
        raise NotConforming("the judge writes into the solution", "Copy what it changes")
    if dict(instance.measure(Solution(point))) != metrics:
        raise NotConforming(
            "the judge reports other metrics when it measures the same solution again",
            "Draw whatever is random in `build`, from the generator given there",
        )


def _check_metrics(problem: AnyProblem, metrics: dict[str, Any]) -> None:
    if problem.primary not in metrics:
        observed = f"the primary metric {problem.primary!r} is not among {', '.join(metrics)}"
        raise NotConforming(observed, "Set `primary` to the metric that solvers are ranked by")
    for name, value in metrics.items():
        if not isinstance(value, float) or not math.isfinite(value):
            observed = f"the metric {name!r} of a random orthonormal point is {value!r}"
            raise NotConforming(observed, "Return finite floats: float(...)")


def check_optimum(problem: AnyProblem) -> None:
    """Raise where a random point is better than the best value of the primary metric."""
    instance = _built(problem)
    best = instance.best.get(problem.primary)
    if best is None:
        return
    for seed in range(3):
        value = instance.measure(Solution(_point(instance, seed)))[problem.primary]
        if value < best - 1e-9 * max(1.0, abs(best)):
            raise NotConforming(
                f"a random point has {problem.primary} = {value:.6g}, below the best, {best:.6g}",
                "Make smaller values better: report a gap or an error, not what is maximized",
            )


def check_repeats(problem: AnyProblem) -> None:
    """Raise where two instances from the same seed differ in the data of oracle or judge."""
    one, other = _built(problem), _built(problem)
    remedy = "Draw everything random from the generator given to `build`, and keep nothing between"
    ours, theirs = arrays(one.oracle), arrays(other.oracle)
    for path in ours.keys() | theirs.keys():
        if not _equal(ours.get(path), theirs.get(path)):
            observed = f"two instances from the same seed differ in oracle{path}"
            raise NotConforming(observed, remedy)
    metrics = [dict(instance.measure(Solution(_point(one, 0)))) for instance in (one, other)]
    if repr(metrics[0]) != repr(metrics[1]):
        raise NotConforming("the judges of two instances from the same seed disagree", remedy)


def check_stream(problem: AnyProblem) -> None:
    """Raise where samples depend on how many are taken at once, or are others after `rewind`."""
    instance = _built(problem)
    oracle = instance.oracle
    if not hasattr(oracle, "take"):
        return
    whole = _samples(instance, [sum(PIECES)])
    if not np.array_equal(whole, _samples(instance, [sum(PIECES)])):
        observed = "the samples after `rewind` with the same generator are others"
        remedy = "Go back to the beginning in `rewind`, and draw from its generator alone"
        raise NotConforming(observed, remedy)
    if not np.array_equal(whole, _samples(instance, list(PIECES))):
        pieces = ", ".join(map(str, PIECES))
        observed = f"samples taken in pieces of {pieces} are others than those taken at once"
        raise NotConforming(observed, "Draw samples in fixed blocks (orthobench.families.sources)")


def check_hidden(problem: AnyProblem) -> None:
    """Raise where the oracle, which solvers see, refers to the judge."""
    instance = _built(problem)
    judge = [instance, instance.measure, instance.exhibits]
    judge += [getattr(part, "__self__", None) for part in (instance.measure, instance.exhibits)]
    hidden = {id(part) for part in judge if part is not None}
    for path, item in walk(instance.oracle):
        if id(item) in hidden:
            raise NotConforming(
                f"solvers can reach the judge, by oracle{path}",
                "Keep the truth, the test data and the metrics out of the oracle",
            )


def check_sent(problem: AnyProblem) -> None:
    """Raise where the oracle cannot be sent to the process of a solver."""
    try:
        packed(_built(problem).oracle, problem.name)
    except UsageError as error:
        observed = str(error.__cause__ or error)
        remedy = "Give the oracle functions and classes of a module, not of a function"
        raise NotConforming(f"the oracle cannot be pickled: {observed}", remedy) from error


def check_global_random(problem: AnyProblem) -> None:
    """Raise where building and judging change the global random state of NumPy or Python."""
    shared_checks.check_global_random(lambda: _judged(problem))


def check_silent(problem: AnyProblem) -> None:
    """Raise where building or judging prints or warns."""
    shared_checks.check_silent(lambda: _judged(problem))


def _judged(problem: AnyProblem) -> None:
    instance = _built(problem)
    instance.measure(Solution(_point(instance, 0)))


def _built(problem: AnyProblem) -> AnyInstance:
    try:
        instance: object = problem.build(np.random.default_rng(SEED))
    except DataError as error:
        raise NotCheckable(f"its data are missing or unfit: {error}") from error
    if isinstance(instance, Instance):
        return instance
    observed = f"build returns a {type(instance).__name__}"
    raise NotConforming(observed, "Return an orthobench.contract.Instance")


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


def _equal(a: Array | None, b: Array | None) -> bool:
    return a is not None and b is not None and a.shape == b.shape and a.tobytes() == b.tobytes()


BUILDS = Check("builds", "build returns an instance of the type announced", check_builds)
IT_BUILDS = (BUILDS,)
REPEATS = Check("repeats", "the same seed gives the same data", check_repeats, IT_BUILDS)

CHECKS: tuple[Check, ...] = (
    BUILDS,
    Check("judge", "a random point is feasible, with finite metrics", check_judge, IT_BUILDS),
    Check("optimum", "no random point is better than the best", check_optimum, IT_BUILDS),
    REPEATS,
    Check("stream", "samples do not depend on how they are taken", check_stream, IT_BUILDS),
    Check("hidden", "solvers cannot reach the judge", check_hidden, IT_BUILDS),
    Check("sent", "the oracle can be sent to the process of a solver", check_sent, IT_BUILDS),
    Check("random", "global random states are left as they are", check_global_random, IT_BUILDS),
    Check("silent", "nothing is printed or warned of", check_silent, IT_BUILDS),
    Check("parameters", "wrong parameters are refused by name", check_parameters),
    Check("recipe", "it compares, hashes and pickles by its parameters", check_recipe),
)
"""Every check of a problem, in the order in which they are made."""
