"""The rule "ascending" of `pgd`: which steps are taken, and how long the next one is.

Steps are tried at gamma = s over the length of each column of the gradient, so that a large s makes
them the power iteration. A step is taken if F gains at least::

    min(s, 1) |V|² / (10 (2d F + |V|)),        V = (I - QQ') ∇F,

a tenth of what steps of one over the trace of Q'∇F = 2dF, the largest that its eigenvalues can be,
promise to first order. It is not enough that F does not fall: orthogonal iteration on diag(1, -1)
goes back and forth at the same F for ever. Otherwise the step is tried again from the same point
with a tenth of s. Since F has a bounded second derivative, and gamma grows with s in every column,
that succeeds after some times: at the latest where all gamma are below 1/L, in the range of the
theorem of `pgd` (which scaled columns leave valid: Q + ∇F diag(gamma) spans what Q diag(1/gamma) +
∇F does). So sum_t |V_t|² < infinity, and all limits are critical points.

After three steps in a row that were taken, s doubles, up to what it began with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orthobench.contract import Array
from orthobench_tucker.objective import RESOLVED, gain

SUFFICIENT = 0.1
"""Least share of the gain that is promised."""

CUT, GROWTH = 10.0, 2.0
"""What s is divided by after a step that is not taken, and multiplied by."""

CALM = 3
"""Steps in a row that are taken before s grows."""

SMALLEST = 1e-16
"""s at which there is no step left."""

ROUNDING = 1e-14
"""Share of F that is rounding, where the gradient shows that F rises."""


class Place(NamedTuple):
    """A basis with F and its gradient there; all transposed.

    Attributes
    ----------
    basis : ndarray, shape (r, n)
        Q'.
    inner : ndarray, shape (r, r)
        P, and
    tangent : ndarray, shape (r, n)
        V', of ∇F = QP + V at Q.
    objective : float
        F(Q).
    relative_gradient : float
        |V| / F.
    """

    basis: Array
    inner: Array
    tangent: Array
    objective: float
    relative_gradient: float


def rises(place: Place, trial: Place, order: int, length: float) -> bool:
    """Return whether F gains enough from one place to another.

    Where the difference of both values is so small that rounding shows, and the gradient has not
    become half as large, what it gains is taken from the gradients (`objective.gain`).

    Parameters
    ----------
    place, trial : Place
    order : int
        d.
    length : float
        s.
    """
    F, relative = place.objective, place.relative_gradient
    least = SUFFICIENT * min(length, 1.0) * relative * relative * F / (2 * order + relative)
    gained = trial.objective - F
    if abs(gained) <= RESOLVED * F:
        if 2 * trial.relative_gradient <= relative and gained >= -ROUNDING * F:
            return True
        gained = gain(F, trial.objective, slopes(place, trial))
    return gained >= least


def slopes(place: Place, trial: Place) -> tuple[float, float]:
    """Return the derivatives of F at both ends of a way from one place to another.

    The way begins towards D = Y (Q'Y)^-1 - Q, which is horizontal, and ends likewise.

    Notes
    -----
    6nr² flops, and the inverse of an (r, r) matrix; infinite where there is none.
    """
    cosines = place.basis @ trial.basis.T
    try:
        inverse = np.linalg.inv(cosines)
    except np.linalg.LinAlgError:
        return np.inf, np.inf
    first = np.vdot(place.tangent @ trial.basis.T, inverse.T)
    last = np.vdot(trial.tangent @ place.basis.T, inverse)
    return float(first), -float(last)


def next_length(length: float, longest: float, calm: int) -> tuple[float, int]:
    """Return s after a step that was taken, and how many in a row were.

    Parameters
    ----------
    length, longest : float
        s, and what it began with.
    calm : int
        How many had been in a row since s changed.
    """
    if length < longest and calm + 1 >= CALM:
        return min(GROWTH * length, longest), 0
    return length, calm + 1


def unresolved(place: Place) -> bool:
    """Return whether the gradient is so small that F hardly shows it."""
    return place.relative_gradient**2 <= RESOLVED
