"""Section 5.2, Figure 9 and Table 3: portfolios chosen by moments of low rank.

30 industries of Kenneth French replace the paper's hedge-fund indices, which are not free.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

import orthobench as ob
from orthobench.contract import AnyInstance, Array
from orthobench.contract.exhibits import Curve
from orthobench.contract.panel import Axis, Panel, Series
from orthobench_papers.reproduce import Evidence, Rows
from orthobench_papers.runs import begin, instance
from orthobench_papers.tucker_2022 import dense

ASSETS, RANK = 30, 15

INSIDE, OUTSIDE = 8, 3
"""Years of a window, as in the paper."""

SPLITS = tuple(range(1968, 2016, OUTSIDE))
"""First out-of-sample years, without overlap."""

RUNS = ((2, 1.0, 1000), (3, 1e-2, 1000), (4, 1e-5, 200))
"""Order, c2 and T2 of the three runs of Phase II."""

BATCH = 500

ROWS = ("annual_return", "m2", "m3", "m4")


class Outcome(NamedTuple):
    """Results of three portfolios in one window.

    Attributes
    ----------
    rows, curves : dict
        The numbers of Table 3, and cumulative returns in percent (Figure 9), by strategy.
    errors : tuple of float
        Relative errors of the in-sample moments of orders 2 to 4, each with its own basis.
    moved : float
        Distance of the last run over the distance to the end of ascent on the fourth moment.
    """

    rows: dict[str, dict[str, float]]
    curves: dict[str, Array]
    errors: tuple[float, ...]
    moved: float


def window(split: int, order: int, rank: int, seed: int) -> AnyInstance:
    """Return the instance of one window, with moments of one order."""
    return instance(
        "portfolio", seed, order=order, rank=rank, first=str(split - INSIDE), split=str(split),
        last=str(split + OUTSIDE - 1), passes=300,
    )  # fmt: skip


@lru_cache(maxsize=64)
def outcome(split: int, seed: int) -> Outcome:
    """Return the results of the portfolios in one window, all three orders with the last basis."""
    Q, errors, before = None, [], np.empty(0)
    for order, step, steps in RUNS:
        made = window(split, order, RANK, seed)
        run = begin("spgd", made, seed, Q, batch=BATCH, hoevd_steps=0, step=step)
        before, Q = run.point, run.advance(steps).point
        ascent = begin("pgd", made, seed).advance(300)
        errors.append(ascent.metrics["relative_error"])
    ended = begin("pgd", made, seed, before, start="random").advance(300).point
    moved = dense.distance(before, run.point) / dense.distance(before, ended)
    rows, curves = portfolios(made, run.point, window(split, 2, ASSETS, seed))
    return Outcome(rows, curves, tuple(errors), moved)


def portfolios(
    low: AnyInstance, Q: Array, full: AnyInstance
) -> tuple[dict[str, dict[str, float]], dict[str, Array]]:
    """Return rows and curves of low-rank, sample-moment (rank 30) and equal portfolios."""
    shown = low.exhibits(ob.Solution(Q))
    curves = {name: np.asarray(cast(Curve, c).y, dtype=np.float64) for name, c in shown.items()}
    rows = {
        "low rank": dict(low.measure(ob.Solution(Q))),
        "sample": dict(full.measure(ob.Solution(np.eye(ASSETS)))),
        "equal": statistics(curves["equal weights"]),
    }
    return rows, curves


def statistics(cumulated: Array) -> dict[str, float]:
    """Return the numbers of Table 3 from cumulative returns in percent."""
    growth = np.concatenate([[1.0], 1 + cumulated / 100])
    y = 100 * (growth[1:] / growth[:-1] - 1)
    moments = {f"m{d}": float(np.mean((y - y.mean()) ** d)) for d in (2, 3, 4)}
    return {"annual_return": 100 * (growth[-1] ** (1 / OUTSIDE) - 1), **moments}


def windows(evidence: Evidence) -> list[Outcome]:
    """Return the results in each window; with --quick in every other one."""
    splits: Sequence[int] = SPLITS[:: evidence.sized(1, 2)]
    return [outcome(split, seed) for split, seed in zip(splits, evidence.seeds, strict=False)]


def preferred(found: Outcome, row: str) -> str:
    """Return the strategy with the best score in a row."""

    def score(name: str) -> float:
        value = found.rows[name][row]
        return value if row == "annual_return" else -abs(value)

    return max(found.rows, key=score)


def every_row(evidence: Evidence) -> tuple[list[bool], dict[str, Any]]:
    found = windows(evidence)
    rows = {row: [preferred(one, row) == "low rank" for one in found] for row in ROWS}
    shares = ", ".join(f"{np.mean(hits):.2f} ({row})" for row, hits in rows.items())
    every = [all(hits) for hits in zip(*rows.values(), strict=True)]
    return every, {"count": len(found), "shares": shares}


def higher_return(evidence: Evidence) -> Iterator[float]:
    for one in windows(evidence):
        yield one.rows["low rank"]["annual_return"] - one.rows["sample"]["annual_return"]


def stable(evidence: Evidence) -> Iterator[bool]:
    for one in windows(evidence):
        yield one.rows["equal"]["m2"] > max(one.rows[name]["m2"] for name in ("low rank", "sample"))


def low_rank(evidence: Evidence) -> Rows:
    orders = zip(*(one.errors for one in windows(evidence)), strict=True)
    return {f"order {d}": errors for d, errors in enumerate(orders, 2)}


def last_step(evidence: Evidence) -> list[float]:
    return [one.moved for one in windows(evidence)]


def draw(evidence: Evidence) -> dict[str, Panel]:
    curves = outcome(SPLITS[-1], evidence.seeds[0]).curves
    series = tuple(
        Series(name, np.arange(1.0, len(y) + 1), y, solver=name) for name, y in curves.items()
    )
    x = Axis("day", f"trading day from {SPLITS[-1]}", log=False)
    y = Axis("returns", "cumulative return (%)", log=False)
    return {"30 industries": Panel(x, y, series)}
