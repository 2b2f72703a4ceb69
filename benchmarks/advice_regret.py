"""The regret of advice: on the own problems of the atlas, and on data that are in none.

    python benchmarks/advice_regret.py              # leaving out all sizes of a problem
    python benchmarks/advice_regret.py --unseen     # ten data sets of scikit-learn and of formulas
    python benchmarks/advice_regret.py --smoke      # two of these, in half a minute

The regret of a call is its cost, less a tenth of a second, over that of the cheapest call that gets
within 1 % of the gap, and at least 1; ten if it misses. Gap closed is the share of the logarithm of
the single best call's regret that the advice takes away. Unseen data are raced first: what the race
found is the best, and the advice is named before.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import orthobench as ob
from orthobench.atlas.advice import REGRET, similar
from orthobench.atlas.answers import opened
from orthobench.atlas.losses import single_best
from orthobench.decide.answer import MISS
from orthobench.tools.arrays import Array

SMOKE = 2
"""The data sets of a smoke run."""


def held_out(path: Path | None) -> Iterator[tuple[str, Array, NDArray[np.bool_], Array]]:
    """Yield figures of each kind of problems.

    These are its name, the regrets of the single best call and of advice, whether advice is sure,
    and both regrets if other sizes of the same problem are known.
    """
    for kind, rows in opened(path).kinds.items():
        found = similar(rows, ordered=False)
        if len(set(found.blocks)) < 2:
            continue
        expected = [
            found.regret_at(found.positions[i], np.flatnonzero(found.names != name))
            for i, name in enumerate(found.names)
        ]
        by_block = found.without(found.blocks)
        regrets, known = (
            np.array([own[single_best], own[found.model]]) for own in (found.held_out, by_block)
        )
        yield kind, regrets, np.array(expected) <= math.log(REGRET), known


def line(kind: str, single: Array, advice: Array) -> str:
    """Return the figures of a kind of problems."""
    if not len(single):
        return f"{kind:32}   0 problems"
    closed = 1 - advice.mean() / single.mean() if single.mean() > 0 else 0.0
    mean, tail = math.exp(advice.mean()), math.exp(np.quantile(advice, 0.95))
    return (
        f"{kind:32} {len(single):3} problems: single best {math.exp(single.mean()):5.2f}, advice "
        f"{mean:5.2f} (95 % {tail:5.2f}, worst {math.exp(advice.max()):5.2f}), "
        f"gap closed {closed:+.2f}"
    )


def unseen() -> Iterator[tuple[str, Any]]:
    """Yield ten data sets that are on no map, from packages and from formulas."""
    from sklearn import datasets

    cancer, wine = datasets.load_breast_cancer().data, datasets.load_wine().data
    digits, diabetes = datasets.load_digits().data, datasets.load_diabetes().data
    sparse = datasets.make_multilabel_classification(
        3000, 4000, n_classes=20, length=80, sparse=True, random_state=0
    )[0]
    friedman = datasets.make_friedman1(60_000, 80, random_state=0)[0]
    low = datasets.make_low_rank_matrix(20_000, 400, effective_rank=12, random_state=0)
    swiss = datasets.make_swiss_roll(50_000, random_state=0)[0]
    lifted = np.cos(swiss @ np.random.default_rng(0).standard_normal((3, 150)))
    yield "breast cancer, pca", ob.pca(cancer, k=5)
    yield "wine, pca scaled", ob.pca(wine, k=3, scale=True)
    yield "digits twice, pca", ob.pca(np.hstack([digits, digits**2]), k=20)
    yield "multilabel counts, pca", ob.pca(sparse.astype(float), k=15)
    yield "friedman, pca", ob.pca(friedman, k=4)
    yield "low rank, pca", ob.pca(low, k=12)
    yield "swiss roll lifted, pca", ob.pca(lifted, k=8)
    yield "low rank, stream", ob.stochastic_pca(low, k=6)
    yield "diabetes and digits, cca", ob.cca(digits[:442, 1:60], diabetes, 3, ridge=1e-3)
    yield "cancer, sparse pca", ob.sparse_pca(cancer / cancer.std(0), 3)


def measured(name: str, instance: Any, within: float, folder: Path) -> dict[str, Any]:
    """Return what the advice loses on an instance, by a race that also finds the best."""
    advice = ob.advise(instance)
    raced = ob.race(instance, within=within, store=folder / f"{name.replace(' ', '-')}.sqlite")
    reached = [r for r in raced.table if r["cost"] < math.inf]
    least = min((r["cost"] for r in reached), default=math.nan)
    own = [r["cost"] for r in reached if r["solver"] == advice.use]
    label = [r["cost"] for r in reached if r["configuration"] == advice.solver]
    cost = min(label or own, default=math.inf)
    return {
        "name": name, "advice": advice.solver, "best": raced.winner,
        "regret": min(MISS, cost / least), "expected": advice.expected_regret,
        "race": raced.seconds,
    }  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each kind of problems, or for each unseen data set, and the means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--atlas", type=Path)
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--within", type=float, default=20.0, help="seconds of a race")
    parser.add_argument("--out", type=Path, default=Path("advice-regret"), help="folder of races")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args(arguments)
    if not (options.unseen or options.smoke):
        found = list(held_out(options.atlas))
        for kind, regrets, *_ in found:
            click.echo(line(kind, *regrets))
        regrets, sure, known = (
            np.concatenate([one[i] for one in found], axis=-1) for i in (1, 2, 3)
        )
        click.echo(line("all", *regrets))
        click.echo(line("all, other sizes known", *known))
        click.echo(line("without a doubt", *regrets[:, sure]))
        click.echo(line("with a doubt", *regrets[:, ~sure]))
        return 0
    lost = []
    for i, (name, instance) in enumerate(unseen()):
        if options.smoke and i >= SMOKE:
            break
        row = measured(name, instance, 8.0 if options.smoke else options.within, options.out)
        lost.append(row["regret"])
        click.echo(
            f"{name:28} advice {row['advice']:32} best {row['best']}: regret {row['regret']:.2f} "
            f"(expected {row['expected']:.2f})"
        )
    mean = np.exp(np.log(lost).mean())
    click.echo(f"{len(lost)} data sets: regret {mean:.2f}, worst {max(lost):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
