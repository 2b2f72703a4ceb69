"""A port held against its reference: the iterates of both, step by step.

A plain script that has the reference writes a file of NumPy::

    from orthobench.testing import given

    problem = given("digits k=4", samples=10)  # what a black box sees: X, k, start
    U, steps = problem.start.copy(), {}
    for i in range(1, 11):
        U = reference_step(U, problem.X[i - 1])
        steps[f"step_{i}"] = U
    np.savez("reference.npz", problem="digits k=4", **steps)

Where there is no orthobench it has the name of a maker with its arguments, and the start, in place
of the problem: ``maker="pca", X=X, k=4, start=U``. A solver that draws random numbers draws them
from ``np.random.default_rng(seed)``, the `seed` of the file, by default 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.contract.black_boxes import View
from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import DataError, unknown
from orthobench.harness.cell import instance_of
from orthobench.harness.execution import prepare_steps
from orthobench.harness.identity import Streams
from orthobench.harness.source_digests import MAKERS
from orthobench.registry.entries import specification
from orthobench.registry.plugins import catalogue
from orthobench.testing.check import require
from orthobench.tools.arrays import Array
from orthobench.tools.geometry import random_point

TOLERANCE = 1e-8
"""The largest difference of an entry, relative to the largest of the reference's iterate."""

OWN = ("problem", "maker", "seed", "start")
"""The names in a file that are not arguments of a maker, beside the steps."""


def given(problem: str, seed: int = 0, samples: int = 0) -> View:
    """Return what a black box sees of a problem, with the start that all solvers have.

    Parameters
    ----------
    problem : str
        ``"NAME key=value ..."``.
    seed : int
    samples : int
        Number of samples of a stream, which are ``X``; 0 for other problems.
    """
    oracle = _begun(_instance({"problem": problem}, seed), seed)
    if not samples:
        return View(oracle)
    oracle.prepare(samples)
    return View(oracle, oracle.take(samples).copy())


def check_against(file: Path, solver_of: Callable[[type[Oracle]], AnySolver]) -> None:
    """Raise if a solver parts from the iterates of a file.

    Parameters
    ----------
    file : Path
        Written by `numpy.savez`, as this module says.
    solver_of : callable
        Returns the solver for a type of oracle.

    Raises
    ------
    NotConforming
        Names the first step at which they part, and the entry that differs most.
    DataError
        If the file is no such file.
    """
    try:
        with np.load(file) as stored:
            content = {name: stored[name] for name in stored.files}
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {file}: {error}; write it with numpy.savez") from None
    theirs = [content[name] for name in _steps(content)]
    if not theirs or not {"problem", "maker"} & {*content}:
        raise DataError(f"{file} needs problem (such as 'digits k=4') or maker (such as 'pca'), "
                        "and the points step_1, step_2, ...")  # fmt: skip
    seed = int(content.get("seed", 0))
    oracle = _begun(_instance(content, seed), seed, content.get("start"))
    agreed = 0.0
    points = _points(solver_of(type(oracle)), oracle, len(theirs), seed)
    for number, ours in enumerate(points, start=1):
        agreed = max(agreed, _difference(ours, theirs, number, agreed))


def _steps(content: Mapping[str, Any]) -> Iterator[str]:
    return takewhile(content.__contains__, (f"step_{i}" for i in count(1)))


def _instance(content: Mapping[str, Any], seed: int) -> AnyInstance:
    """Return the instance of a problem, or of a maker and its arguments."""
    if "problem" in content:
        entry = specification(str(content["problem"]))
        return instance_of(catalogue().problem(entry.pop("name"), entry), seed)
    makers, name = {p.name: p for p in entry_points(group=MAKERS)}, str(content["maker"])
    if name not in makers:
        raise unknown("maker", name, makers)
    others = {key: value for key, value in content.items() if key not in (*OWN, *_steps(content))}
    made: AnyInstance = makers[name].load()(**{
        key: value if value.ndim else value.item() for key, value in others.items()
    })  # fmt: skip
    return made


def _begun(instance: AnyInstance, seed: int, start: Array | None = None) -> Any:
    """Return the oracle of an instance at the beginning of its data, as runs get it."""
    oracle, streams = instance.oracle, Streams.of(instance.streams, "", seed)
    drawn = random_point(oracle.n, oracle.k, np.random.default_rng(streams.start))
    oracle.start = drawn if start is None else start
    oracle.rewind(np.random.default_rng(streams.samples))
    return oracle


def _points(solver: AnySolver, oracle: Oracle, steps: int, seed: int) -> Iterator[Array]:
    """Yield the points of a solver after each step."""
    state = solver.init(oracle, np.random.default_rng(seed))
    for _ in range(steps):
        prepare_steps(oracle, solver.batch, 1, solver.reruns)
        solver.advance(oracle, state, 1)
        yield solver.solution(state).in_float64.point


def _difference(ours: Array, theirs: list[Array], number: int, agreed: float) -> float:
    """Return how much two points differ; raise if that is more than rounding."""
    their = theirs[number - 1]
    same = np.shape(ours) == np.shape(their)
    observed = f"step {number} has shape {ours.shape}, the reference {their.shape}"
    require(same, observed, "Write points (n, k) into the file")
    apart = np.abs(ours - their)
    largest = float(apart.max()) / (float(np.abs(their).max()) or 1.0)
    at = tuple(map(int, np.unravel_index(int(np.nanargmax(apart)), apart.shape)))
    before = f"; the steps before agree to {agreed:.1g}" if number > 1 else ""
    require(
        largest <= TOLERANCE,
        f"it parts from the reference at step {number}, most at entry {at}: {ours[at]:.10g} "
        f"here, {their[at]:.10g} there{before}",
        _hint(ours, theirs, number),
    )
    return largest


def _hint(ours: Array, theirs: list[Array], number: int) -> str:
    """Return what is the same nevertheless."""

    def near(one: Array, other: Array) -> bool:
        return bool(np.allclose(one, other, rtol=0, atol=TOLERANCE))

    their = theirs[number - 1]
    for other, point in enumerate(theirs, start=1):
        if near(ours, point):
            return f"It is step {other} of the reference: let both count and begin alike"
    if near(ours * np.sign(np.sum(ours * their, axis=0)), their):
        return "Columns differ in sign alone: give both the same signs"
    if near(ours @ ours.T, their @ their.T):
        return "The columns span the same space, in another basis: compare how both orthonormalize"
    return "Compare what both compute in this step, one line after the other"
