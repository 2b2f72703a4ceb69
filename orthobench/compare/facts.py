"""A comparison as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from orthobench.compare import wording
from orthobench.compare.comparison import Compared, Comparison, Question
from orthobench.compare.sides import Side
from orthobench.stats.run_pairs import Change, Finding
from orthobench.tools.collections import finite_or_none

SCHEMA = 1
"""Raised where a key is dropped or changes its meaning, not where one is added."""


def facts(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values; None stands for a number that is not finite.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    dict
        ``schema``, ``verdict`` (a sentence), ``regressions`` (their number), ``base``, ``head``,
        ``suite``, ``tolerance``, ``counts`` (for each question the number of each answer),
        ``cells`` (each with its ``answers``), ``rounds``, ``seconds``, ``machine``, ``notes``.
    """
    return {
        "schema": SCHEMA,
        "verdict": wording.verdict(comparison),
        "regressions": len(comparison.regressions()),
        "base": _side(comparison.base),
        "head": _side(comparison.head),
        "suite": comparison.suite,
        "tolerance": asdict(comparison.tolerance),
        "counts": {asked.value: _counts(comparison, asked) for asked in Question},
        "cells": [_cell(cell) for cell in comparison.compared],
        "rounds": comparison.rounds,
        "seconds": finite_or_none(comparison.seconds),
        "machine": dict(comparison.machine),
        "notes": wording.remarks(comparison),
    }


def _side(side: Side) -> dict[str, Any]:
    paths = {name: getattr(side, name) for name in ("python", "store")}
    texts = {name: None if path is None else str(path) for name, path in paths.items()}
    return {"name": side.name, "kind": side.kind, "detail": side.detail, **texts}


def _counts(comparison: Comparison, asked: Question) -> dict[str, int]:
    changes = wording.tally(comparison, asked)
    return {change.value: changes[change] for change in Change}


def _cell(cell: Compared) -> dict[str, Any]:
    return {
        "problem": cell.problem,
        "solver": cell.solver,
        "seed": cell.seed,
        "answers": {asked.value: _answer(answer) for asked, answer in cell.answers.items()},
    }


def _answer(answer: Finding) -> dict[str, Any]:
    numbers = {name: finite_or_none(getattr(answer, name)) for name in ("ratio", "low", "high")}
    return {"change": answer.change.value, **numbers, "said": answer.explanation}
