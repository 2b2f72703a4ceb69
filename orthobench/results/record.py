"""What is kept of a finished cell; everything downstream of the store speaks of records."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

from orthobench.harness.stopping import Ending, Stop
from orthobench.harness.suite import Level
from orthobench.harness.trace import Mark


def checksum(key: str, stop: Stop, trace: Iterable[Mark]) -> str:
    """Return a digest of what a cell gave, so that a store can tell when its numbers change.

    Parameters
    ----------
    key : str
        The cell's.
    stop : Stop
    trace : iterable of Mark
    """
    found = hashlib.sha256("\0".join((key, stop.status.value, stop.reason)).encode())
    for mark in trace:
        work = mark.work
        counts = (work.steps, work.samples, work.flops)
        found.update(struct.pack("<qqqdd", *counts, mark.seconds, mark.reading))
        for name in sorted(mark.metrics):
            value = mark.metrics[name]
            # a store keeps no difference between one NaN and another
            found.update(name.encode() + struct.pack("<d", nan if isnan(value) else value))
    return found.hexdigest()


@dataclass(frozen=True)
class Record:
    """One finished cell, as the store returns it.

    Attributes
    ----------
    key : str
        Its content address.
    problem : str
        Label of the problem for people: ``"digits k=4"``.
    family : str
        The problem's family: ``"stochastic PCA"``.
    primary : str
        The metric that comparisons rank by; smaller is better: ``"suboptimality"``.
    tuned_by : str
        The metric that tuned parameters are chosen by: ``"validation_suboptimality"``.
    solver : str
        Label of the solver without its tuned parameters: ``"capped-msg"``, ``"capped-msg K=9"``.
    parameters : mapping
        All parameters of the solver.
    tuned : mapping
        Those of them that are tuned, as ``{"step": 2.0}``; empty where none is.
    seed : int
    status : Ending
        How the cell ended.
    reason : str
        Why, in a sentence for people.
    traceback : str
        Where something raised; empty where nothing did.
    trace : tuple of Mark
        The checkpoints; empty where the cell failed before its first.
    budget : mapping
        The limits of the run, as ``{"samples": 2000}``.
    recipe : str
        Name of the problem in the catalogue: ``"digits"``.
    settings : mapping
        All parameters of the problem.
    versions : mapping
        Versions of the distributions that solver, problem and core come from.
    reruns : bool
        Whether each point of the trace is a run from the start (`Solver.reruns`).
    target : str
        The metric of the target that ends the run; empty where it has none.
    levels : tuple of Level
        The levels that the suite compares the problem at; empty where it is compared as it is.
    """

    key: str
    problem: str
    family: str
    primary: str
    tuned_by: str
    solver: str
    parameters: Mapping[str, Any]
    tuned: Mapping[str, Any]
    seed: int
    status: Ending
    reason: str
    traceback: str
    trace: tuple[Mark, ...]
    budget: Mapping[str, float] = field(default_factory=dict)
    levels: tuple[Level, ...] = ()
    target: str = ""
    recipe: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    reruns: bool = False
