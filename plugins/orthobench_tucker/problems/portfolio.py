"""Portfolios chosen by low-rank moments of daily returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from orthobench_kit.data import data_files

from orthobench.contract import (
    Array,
    DataError,
    Instance,
    ParameterError,
    Solution,
    UsageError,
    parameter,
)
from orthobench.contract.exhibits import Curve, Exhibit
from orthobench.tools.datasets import DataFile
from orthobench_tucker import (
    ComponentSolution,
    Judge,
    SampleMoment,
    SymmetricTucker,
    TuckerOracle,
    symmetric_tucker,
)
from orthobench_tucker.problems.allocation import Utility, cumulative, performance
from orthobench_tucker.problems.returns import Returns, read_returns

_COPY = (
    "https://raw.githubusercontent.com/druce/Machine-learning-for-financial-market-prediction/"
    "6df2a82f9d5bb85cfe5fc629c7fadc8bff5c3a65/"
)

INDUSTRIES = DataFile(
    "30_Industry_Portfolios_Daily.CSV",
    "7d61336c17fb4d39fdebcd43dee22d2ba9b3e9e1f0cded0859f26c80921899f4",
    (f"{_COPY}30_Industry_Portfolios_Daily.CSV",),
    "Kenneth R. French's data library, "
    "https://mba.tuck.dartmouth.edu/pages/faculty/ken.french/data_library.html (free to use; "
    "copyright Eugene F. Fama and Kenneth R. French), daily returns up to February 2018",
)

ASSETS = 30
"""Number of industries in the published file."""

YEAR = 365.25
"""Mean length of a year, in days."""

PERIOD_HELP = "a year, or a day as 2013-01-02"


@dataclass(frozen=True)
class Portfolio(SymmetricTucker):
    """Daily returns of 30 US industries; their low-rank moments choose a portfolio (French).

    They replace the hedge-fund indices (HFRX) of section 5.2 of Jin, Kileel, Kolda and Ward (2022),
    which are not free. Solvers decompose the moment of order `order` of the centred in-sample
    returns, in percent; the primary metric is its relative error. The loss of expected utility
    in-sample, ``utility_gap``, and the performance out of sample are reported as well.

    The paper decomposes the moments of orders 2, 3 and 4 in turn, each from the basis of the one
    before. Here one basis is used for all three: the utility is that of the returns QQ'x. Streams
    go `passes` times through the days in one random order, by default as the paper's 1000 batches
    of 500.
    """

    name: ClassVar[str] = "portfolio"
    source: ClassVar[str] = "Kenneth R. French, data library"

    order: int = parameter(3, help="order d of the moment", low=2, high=4)
    rank: int = parameter(15, help="columns of the basis", low=1)
    first: int | str = parameter("2000", help=f"first day in-sample: {PERIOD_HELP}")
    split: int | str = parameter("2013", help=f"first day out-of-sample: {PERIOD_HELP}")
    last: int | str = parameter("2017", help=f"last day out-of-sample: {PERIOD_HELP}")
    passes: int = parameter(160, help="how often streams go through the days", low=1)
    path: str | None = parameter(
        None, help="your own download instead: a CSV file of daily returns in percent"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("first", "split", "last"):
            object.__setattr__(self, name, str(getattr(self, name)))
        begin, split, end = self._days
        if not begin < split < end:
            raise UsageError(
                f"first, split and last must follow each other, but are {begin}, {split} and {end}"
            )
        if self.path is None and self.rank > ASSETS:
            raise ParameterError("rank", f"rank must be <= {ASSETS}, the assets, not {self.rank}")

    @property
    def tensor_shape(self) -> tuple[int, ...] | None:
        return (ASSETS,) * self.order if self.path is None else None

    def build(self, rng: np.random.Generator) -> Instance[TuckerOracle]:
        """Return the instance; `rng` draws the order in which streams see the days.

        Raises
        ------
        DataError
            If the file is missing, cannot be downloaded, has no table of daily returns, or does not
            cover the period.
        UsageError
            If the rank exceeds the number of assets.
        """
        begin, split, end = self._days
        path, checksum = data_files.located(self.path, INDUSTRIES)
        returns = _returns(path, checksum)
        try:
            inside = returns.between(begin, split - timedelta(days=1))
            outside = returns.between(split, end)
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        X = inside - inside.mean(axis=0)
        order = rng.permutation(len(X))
        instance = symmetric_tucker(X[order], order=self.order, rank=self.rank, passes=self.passes)
        years = ((end - split).days + 1) / YEAR
        judge = PortfolioJudge(SampleMoment(X, self.order), outside, years)
        return replace(instance, measure=judge.measure, exhibits=judge.exhibits)

    def checksum(self) -> str:
        return data_files.checksum(self.path, INDUSTRIES)

    @property
    def _days(self) -> tuple[date, date, date]:
        return (
            _day("first", str(self.first), "01-01"),
            _day("split", str(self.split), "01-01"),
            _day("last", str(self.last), "12-31"),
        )


@dataclass(frozen=True, eq=False)
class PortfolioJudge:
    """Chooses a portfolio by low-rank moments of in-sample returns, and measures it out-of-sample.

    Attributes
    ----------
    moment : SampleMoment
        Moment of the centred in-sample returns.
    outside : ndarray, shape (days, n)
        Out-of-sample returns, in percent.
    years : float
        Length of the out-of-sample period.
    """

    moment: SampleMoment
    outside: Array
    years: float

    @cached_property
    def sample_weights(self) -> Array:
        """The best weights by sample moments."""
        return Utility(self.moment.X).best_weights()

    def weights(self, Q: Array) -> Array:
        """Return the best weights by low-rank moments."""
        return Utility(self.moment.X).of_rank(Q).best_weights()

    def measure(self, solution: Solution) -> dict[str, float]:
        """Return the family's metrics and, for a basis, those of its portfolio (`performance`).

        ``utility_gap`` is the loss of expected utility, from sample moments, relative to the best
        weights.
        """
        metrics = Judge(self.moment, self.moment)(solution)
        if isinstance(solution, ComponentSolution):
            return metrics
        w, utility = self.weights(solution.point), Utility(self.moment.X)
        most = utility(self.sample_weights)
        metrics["utility_gap"] = (most - utility(w)) / abs(most)
        return {**metrics, **performance(self.outside @ w, self.years)}

    def exhibits(self, solution: Solution) -> dict[str, Exhibit]:
        """Return the curves of Figure 9: cumulative returns out-of-sample."""
        n = self.outside.shape[1]
        curves: dict[str, Exhibit] = {}
        if not isinstance(solution, ComponentSolution):
            curves["low-rank moments"] = self._curve(self.weights(solution.point))
        curves["sample moments"] = self._curve(self.sample_weights, reference=True)
        curves["equal weights"] = self._curve(np.full(n, 1 / n), reference=True)
        return curves

    def _curve(self, w: Array, reference: bool = False) -> Curve:
        y = cumulative(self.outside @ w)
        days = np.arange(1.0, len(y) + 1)
        return Curve(days, y, "trading day out-of-sample", "cumulative return (%)", reference)


def _day(name: str, text: str, end: str) -> date:
    try:
        return date.fromisoformat(f"{text}-{end}" if len(text) == 4 else text)
    except ValueError:
        raise ParameterError(name, f"{name} must be {PERIOD_HELP}, not {text!r}") from None


@lru_cache(maxsize=2)
def _returns(path: Path, checksum: str) -> Returns:
    del checksum
    found = read_returns(path)
    found.values.flags.writeable = False
    return found
