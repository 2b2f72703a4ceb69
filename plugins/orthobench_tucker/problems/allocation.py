"""Weights of largest expected utility, and the performance of a portfolio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orthobench.contract import Array
from orthobench.errors import OrthobenchError

GAP = 1e-6
"""Maximum optimality gap, relative to the utility of equal weights."""

UNITS = (1.0, 1e-2, 1e-4, 1e-6, 1e-8)
"""Units of utility for the optimizer in turn, relative to that of equal weights."""


@dataclass(frozen=True)
class Utility:
    """The expected utility of a portfolio w, from moments of orders 2 to 4 of centred returns.

    -mu/2 <M2, w²> + mu(mu+1)/6 <M3, w³> - mu(mu+1)(mu+2)/24 <M4, w⁴> (Jin, Kileel, Kolda and Ward
    2022, equation 19). <M_d, w^d> is the mean of (w'x)^d; low-rank moments M_d ·(QQ', ..., QQ') are
    those of the samples QQ'x. The utility is concave in w.

    Attributes
    ----------
    X : ndarray, shape (p, n)
        Centred returns in rows.
    aversion : float
        mu, the aversion to risk; its meaning depends on the unit of the returns.
    """

    X: Array
    aversion: float = 1.0

    def of_rank(self, Q: Array) -> Utility:
        """Return the utility from low-rank moments with the basis Q (n, r)."""
        return Utility((self.X @ Q) @ Q.T, self.aversion)

    def __call__(self, w: Array) -> float:
        """Return the utility of weights (n,); 2pn flops."""
        return self.with_gradient(w)[0]

    def with_gradient(self, w: Array) -> tuple[float, Array]:
        """Return the utility of weights (n,) and its gradient; 4pn flops."""
        mu, y = self.aversion, self.X @ w
        a, b, c = mu / 2, mu * (mu + 1) / 6, mu * (mu + 1) * (mu + 2) / 24
        value = float(np.mean(y * y * (-a + y * (b - c * y))))
        slopes = y * (-2 * a + y * (3 * b - 4 * c * y))
        return value, np.asarray(self.X.T @ slopes / len(y))

    def gap(self, w: Array) -> float:
        """Return max_i g_i - w'g, which bounds the loss by `w` (Frank and Wolfe 1956)."""
        _, g = self.with_gradient(w)
        return float(g.max() - w @ g)

    def best_weights(self) -> Array:
        """Return weights w >= 0, sum w = 1, of largest expected utility, by SciPy's SLSQP.

        Raises
        ------
        OrthobenchError
            If the result is not optimal: `gap` above 1e-6 of the utility of equal weights.
        """
        n = self.X.shape[1]
        weights = np.full(n, 1 / n)
        unit = abs(self(weights)) or 1.0
        for finer in UNITS:
            weights = self._ascended(weights, unit * finer)
            if self.gap(weights) <= GAP * unit:
                return weights
        raise OrthobenchError(
            "the weights of largest expected utility were not found: the optimality gap is "
            f"{self.gap(weights):.1e}"
        )

    def _ascended(self, weights: Array, unit: float) -> Array:
        from scipy.optimize import minimize

        def loss(w: Array) -> tuple[float, Array]:
            value, g = self.with_gradient(w)
            return -value / unit, -g / unit

        n = len(weights)
        total = {"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda _: np.ones((1, n))}
        found = minimize(
            loss, weights, jac=True, method="SLSQP", bounds=[(0, 1)] * n, constraints=total,
            options={"ftol": 1e-14, "maxiter": 1000},
        )  # fmt: skip
        inside = np.maximum(found.x, 0)
        return np.asarray(inside / inside.sum())


def cumulative(y: Array) -> Array:
    """Return cumulative returns of daily returns (days,), in percent."""
    return np.asarray((np.cumprod(1 + y / 100) - 1) * 100)


def performance(y: Array, years: float) -> dict[str, float]:
    """Return the measures of Table 3 of Jin et al. (2022) of daily returns `y` in percent.

    ``annual_return``, the annual geometric mean in percent; ``m2``, ``m3`` and ``m4``, the centred
    moments of daily returns. `years` includes weekends.
    """
    growth = float(np.prod(1 + y / 100))
    centred = y - y.mean()
    moments = {f"m{d}": float(np.mean(centred**d)) for d in (2, 3, 4)}
    return {"annual_return": (growth ** (1 / years) - 1) * 100, **moments}
