"""Figure 2: implicit and explicit methods as the number of variables grows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from orthobench_tucker.reference import moment

import orthobench as ob
from orthobench.contract import Array, orthonormalize, random_point
from orthobench.contract.panel import Axis, Panel
from orthobench_papers.drawing import band, over_seeds
from orthobench_papers.reproduce import Evidence, Measurement, catalogue, median_within, together
from orthobench_papers.runs import DrivenRun, begin, final_ratios, timed
from orthobench_papers.tucker_2022 import dense

SUITE, LARGE, PROBLEM = "figure-2", "figure-2-large", "nig-factor"
"""The second suite has tensors near the limit of explicit methods."""

HOEVD = ("hoevd form=implicit", "hoevd form=explicit")
IMPLICIT, PGD = "pgd form=implicit", "pgd form=explicit"
EXPLICIT = (PGD, *(f"{name} form=explicit" for name in ("hooi", "quasi-newton", "trust-region")))
CALLED = {
    IMPLICIT: "spgd implicit",
    **{solver: solver.replace("form=", "") for solver in (*HOEVD, *EXPLICIT)},
}
"""Names of the solvers in texts and pictures."""

MUCH = 2.0
"""Minimum ratio of seconds of a much faster method."""


def gradients(evidence: Evidence) -> Iterator[float]:
    for problem in evidence.problems(SUITE, PROBLEM):
        for solver in (IMPLICIT, *EXPLICIT):
            yield evidence.finals(SUITE, problem, solver, "relative_gradient").max()


def spreads(evidence: Evidence) -> Iterator[float]:
    for problem in evidence.problems(SUITE, PROBLEM):
        solvers = (IMPLICIT, *EXPLICIT)
        values = np.array([evidence.finals(SUITE, problem, s, "objective") for s in solvers])
        yield np.max(np.ptp(values, axis=0) / values.max(axis=0))


def speedup(evidence: Evidence, problem: str, pair: tuple[str, str], text: str) -> Measurement:
    """Check that the first solver is much faster than the second."""
    first, second = (evidence.finals(SUITE, problem, solver, "seconds") for solver in pair)
    return median_within(second / np.median(first), MUCH, text=text)


def faster(evidence: Evidence, ours: str, rivals: Sequence[str]) -> Measurement:
    named = sizes(evidence, SUITE)
    found = [
        speedup(evidence, problem, (ours, rival), f"{CALLED[rival]}, {size}")
        for problem, size in named.items()
        for rival in rivals
    ]
    runs = [r for p in named for s in (ours, *rivals) for r in evidence.records(SUITE, p, s)]
    return timed(least(found, f"how many times faster {CALLED[ours]} is"), runs)


def sizes(evidence: Evidence, suite: str) -> dict[str, str]:
    """Return order and number of variables of each problem, in words."""
    found = {}
    for problem in evidence.problems(suite, PROBLEM):
        about = evidence.records(suite, problem, IMPLICIT)[0].problem.parameters
        found[problem] = f"d = {about['order']}, n = {about['n']}"
    return found


def least(found: Sequence[Measurement], text: str) -> Measurement:
    """Return the minimum of several measurements, with one verdict."""
    lowest = min(found, key=lambda one: one.value)
    each = ", ".join(f"{one.value:.3g} ({one.text})" for one in found)
    return replace(
        lowest, verdict=together(found).verdict, text=f"{text}, minimum over all: {each}"
    )


def growth(evidence: Evidence, pair: tuple[str, str], order: int) -> Measurement:
    """Check that the first solver's advantage grows with the tensors."""
    problems = evidence.problems(SUITE, f"{PROBLEM} order={order}")
    small, large = (
        final_ratios(evidence, SUITE, problem, pair[::-1], "flops")
        for problem in (problems[0], problems[-1])
    )
    return median_within(large / small, 1, text=f"{CALLED[pair[1]]}, order {order}")


def scales(evidence: Evidence, pairs: Sequence[tuple[str, str]]) -> Measurement:
    found = [growth(evidence, pair, order) for pair in pairs for order in (3, 4)]
    return least(found, "by how much explicit / implicit flops grow")


def further(evidence: Evidence) -> tuple[list[float], dict[str, Any]]:
    problems = evidence.problems(LARGE, PROBLEM)
    found = [
        evidence.finals(LARGE, problem, IMPLICIT, "relative_gradient").max() for problem in problems
    ]
    largest = evidence.records(LARGE, problems[-1], IMPLICIT)[0].problem.parameters
    n, d = largest["n"], largest["order"]
    explicit = catalogue().solver("pgd", {"form": "explicit"})
    refused = explicit.refuses(catalogue().problem("nig-factor", {**largest}))
    can = "cannot" if refused else "can"
    return found, {"n": n, "d": d, "size": 8 * n**d / 1e9, "can": can}


def paired(evidence: Evidence) -> Iterator[tuple[Array, Array, DrivenRun]]:
    """Yield a tensor, a start, and a run of Algorithm 2 from there."""
    for seed in evidence.seeds[:6]:
        rng = np.random.default_rng(seed)
        X = dense.skewed(rng, 15, 3, 60)
        X += 0.1 * rng.standard_normal(X.shape)
        Q = random_point(15, 3, rng)
        for order in (3, 4):
            instance = ob.symmetric_tucker(X.T, order=order, rank=3, passes=10)
            run = begin("spgd", instance, seed, Q, batch=60, hoevd_steps=0, step=1.0)
            yield moment(X.T, order), Q, run


def matches_scalar(evidence: Evidence) -> Iterator[float]:
    for T, Q, run in paired(evidence):
        G, moved = dense.gradient(T, Q), run.advance().point
        steps = np.geomspace(1e-3, 1e3, 121) / np.linalg.norm(G)
        yield min(dense.distance(moved, orthonormalize(Q + gamma * G)) for gamma in steps)


def matches_adagrad(evidence: Evidence) -> list[float]:
    return [dense.distance(run.advance(10).point, adagrad(T, Q)) for T, Q, run in paired(evidence)]


def adagrad(T: Array, Q: Array, steps: int = 10) -> Array:
    """Return the basis after steps of Algorithm 1 with column-wise AdaGrad."""
    squares = np.zeros(Q.shape[1])
    for _ in range(steps):
        G = dense.gradient(T, Q)
        if not squares.any():
            squares += (1e-5 * np.linalg.norm(G)) ** 2
        squares += np.sum(G**2, axis=0)
        Q = orthonormalize(Q + G / np.sqrt(squares))
    return Q


def power_iteration(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:10]:
        rng = np.random.default_rng(seed)
        X = dense.skewed(rng, 15, 15, 60)
        Q = random_point(15, 3, rng)
        instance = ob.symmetric_tucker(X.T, order=3, rank=3)
        run = begin("spgd", instance, seed, Q, batch=60, hoevd_steps=0, step=1000.0)
        moved = run.advance().point
        power = orthonormalize(dense.gradient(moment(X.T, 3), Q))
        yield dense.distance(moved, power) / dense.distance(moved, Q)


def draw(evidence: Evidence) -> dict[str, Panel]:
    phases = {"HOEVD": HOEVD, "to a relative gradient of 1e-12": (IMPLICIT, *EXPLICIT)}
    return {
        f"order {order}, {phase}": panel(evidence, order, solvers, phase)
        for order in (3, 4)
        for phase, solvers in phases.items()
    }


def panel(evidence: Evidence, order: int, solvers: Sequence[str], phase: str) -> Panel:
    """Draw one phase for tensors of one order."""
    series = []
    for solver in solvers:
        suites = (SUITE, LARGE) if solver in (IMPLICIT, HOEVD[0]) else (SUITE,)
        places = [(s, p) for s in suites for p in evidence.problems(s, f"{PROBLEM} order={order}")]
        ns = [evidence.records(*place, solver)[0].problem.parameters["n"] for place in places]
        seconds = [evidence.finals(*place, solver, "seconds") for place in places]
        series.append(over_seeds(CALLED[solver], ns, seconds))
    x = Axis("n", f"variables n, order {order}")
    y = Axis("seconds", f"seconds, {phase}")
    return Panel(x, y, tuple(series), band=band(len(seconds[0])))
