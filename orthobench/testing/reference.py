"""A port compared with its reference, step by step.

The file has ``problem`` (``"digits k=4"``) or ``maker`` with its arguments and ``start``; the
points ``step_1``, ``step_2``, ...; and optionally ``seed``, for the random numbers of both.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np

from orthobench.contract.black_boxes import View
from orthobench.contract.problem import AnyInstance, Oracle
from orthobench.contract.solver import AnySolver
from orthobench.errors import DataError, unknown
from orthobench.harness.cell import instance_of
from orthobench.harness.identity import Streams
from orthobench.harness.source_digests import MAKERS
from orthobench.registry.entries import specification
from orthobench.registry.plugins import catalogue
from orthobench.testing.check import require
from orthobench.testing.short_runs import Run, begin
from orthobench.tools.arrays import Array

TOLERANCE = 1e-8
"""Maximum difference of an entry, relative to the reference's largest."""


def given(problem: str, seed: int = 0, samples: int = 0) -> View:
    """Return a problem as a black box sees it.

    Parameters
    ----------
    problem : str
        ``"NAME key=value ..."``.
    seed : int
    samples : int
        Number of samples of a stream; 0 for other problems.
    """
    oracle = _begun(_instance({"problem": problem}, seed), seed)
    if not samples:
        return View(oracle)
    oracle.prepare(samples)
    return View(oracle, oracle.take(samples).copy())


def check_against(file: Path, solver_of: Callable[[type[Oracle]], AnySolver]) -> None:
    """Raise if the iterates of a solver differ from those of a file.

    Parameters
    ----------
    file : Path
        Written by `numpy.savez`, as above.
    solver_of : callable
        Returns the solver for a type of oracle.

    Raises
    ------
    NotConforming
        Names the first step that differs, and the worst entry.
    DataError
        On another file.
    """
    try:
        with np.load(file) as stored:
            content = {name: stored[name] for name in stored.files}
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {file}: {error}; write it with numpy.savez") from None
    seed, start, theirs = int(content.pop("seed", 0)), content.pop("start", None), list[Array]()
    while (step := f"step_{len(theirs) + 1}") in content:
        theirs.append(content.pop(step))
    if not theirs or not {"problem", "maker"} & {*content}:
        raise DataError(
            f"{file} needs problem ('digits k=4') or maker ('pca'), step_1, step_2, ..."
        )
    oracle = _begun(_instance(content, seed), seed, start)
    solver = solver_of(type(oracle))
    run = Run(solver, oracle, solver.init(oracle, np.random.default_rng(seed)))
    for number, their in enumerate(theirs, start=1):
        run.advance(1)
        _compare(run.read().in_float64.point, their, number)


def _instance(content: dict[str, Any], seed: int) -> AnyInstance:
    """Return the instance of a problem, or of a maker and its arguments."""
    if "problem" in content:
        entry = specification(str(content["problem"]))
        return instance_of(catalogue().problem(entry.pop("name"), entry), seed)
    makers, name = {p.name: p for p in entry_points(group=MAKERS)}, str(content.pop("maker"))
    if name not in makers:
        raise unknown("maker", name, makers)
    # an array of no axes is a number or a text
    made: AnyInstance = makers[name].load()(**{key: own[()] for key, own in content.items()})
    return made


def _begun(instance: AnyInstance, seed: int, start: Array | None = None) -> Any:
    """Return the oracle of an instance, as runs get it."""
    oracle: Any = instance.oracle
    begin(oracle, Streams.of(instance.streams, "", seed))
    oracle.start = oracle.start.copy() if start is None else start
    return oracle


def _compare(ours: Array, theirs: Array, number: int) -> None:
    """Raise if a step differs from the reference by more than rounding."""
    observed = f"step {number} has shape {ours.shape}, the reference {theirs.shape}"
    require(ours.shape == theirs.shape, observed, "Write points (n, k) into the file")
    apart = np.abs(ours - theirs)
    at = tuple(map(int, np.unravel_index(int(np.nanargmax(apart)), apart.shape)))
    observed = f"it differs from the reference at step {number}, most at entry {at}"
    require(
        apart.max() <= TOLERANCE * (float(np.abs(theirs).max()) or 1.0),
        f"{observed}: {ours[at]:.10g} here, {theirs[at]:.10g} there",
        _hint(ours, theirs),
    )


def _hint(ours: Array, theirs: Array) -> str:
    """Return a likely cause."""
    if np.allclose(ours * np.sign(np.sum(ours * theirs, axis=0)), theirs, 0, TOLERANCE):
        return "Columns differ in sign alone: give both the same signs"
    if np.allclose(ours @ ours.T, theirs @ theirs.T, 0, TOLERANCE):
        return "The columns span the same space: compare how both orthonormalize"
    return "Compare what both compute in this step, one line after the other"
