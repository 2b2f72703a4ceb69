"""The step-size rule "ascending" of `pgd`: which steps are accepted, and the next step size.

A step has gamma = s over the length of each column of the gradient; a large s makes it a step of
the power iteration. It is accepted if F gains at least::

    min(s, 1) |V|² / (10 (2d F + |V|)),        V = (I - QQ') ∇F,

a tenth of the first-order gain of a step of size 1 / tr(Q'∇F), where tr(Q'∇F) = 2dF bounds the
eigenvalues of Q'∇F. It is not enough that F does not fall: orthogonal iteration on diag(1, -1)
alternates at the same F for ever. A step that is rejected is tried again from the same point with
a tenth of s. Since F has a bounded second derivative, and gamma grows with s in every column, one
of these is accepted: at the latest when all gamma are below 1/L, in the range of the theorem of
`pgd`. (That holds with a gamma for each column: Q + ∇F diag(gamma) and Q diag(1/gamma) + ∇F have
the same span.) So sum_t |V_t|² < infinity, and all limits are critical points.

After three steps in a row that were accepted s doubles, up to its initial value.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from orthobench.contract import is_plain, namespace
from orthobench.tools.arrays import inner
from orthobench_tucker.objective import RESOLVED, gain

SUFFICIENT = 0.1
"""Least share of the first-order gain at which a step is accepted."""

CUT, GROWTH = 10.0, 2.0
"""Divisor of s after a step that is rejected, and factor when s grows again."""

PATIENCE = 3
"""Steps in a row that are accepted before s grows."""

SMALLEST = 1e-16
"""Least s; after it no step is left."""

ROUNDING = 1e-14
"""Fall of F, relative to F, that is rounding where the gradient has become half as large."""


class Iterate(NamedTuple):
    """A basis with F and its gradient, all transposed.

    Attributes
    ----------
    basis : array, shape (r, n)
        Q'.
    inner : array, shape (r, r)
        P of ∇F = QP + V.
    tangent : array, shape (r, n)
        V', the Riemannian gradient.
    objective : float
        F(Q).
    relative_gradient : float
        |V| / F.
    """

    basis: Any
    inner: Any
    tangent: Any
    objective: float
    relative_gradient: float


def sufficient(current: Iterate, trial: Iterate, order: int, step_size: float) -> bool:
    """Return whether F gains enough in a step for it to be accepted.

    Where the difference of the two values is near rounding, the gain is taken from the gradients
    (`objective.gain`), unless the gradient has become half as large: then the step is accepted if
    F does not fall by more than rounding.

    Parameters
    ----------
    current, trial : Iterate
        Before and after the step.
    order : int
        d.
    step_size : float
        s.
    """
    F, relative = current.objective, current.relative_gradient
    least = SUFFICIENT * min(step_size, 1.0) * relative * relative * F / (2 * order + relative)
    gained, coarser = trial.objective - F, units(current.basis)
    resolved = RESOLVED * sqrt(coarser)
    if abs(gained) <= resolved * F:
        if 2 * trial.relative_gradient <= relative and gained >= -ROUNDING * coarser * F:
            return True
        gained = gain(F, trial.objective, end_slopes(current, trial), resolved)
    return gained >= least


def end_slopes(current: Iterate, trial: Iterate) -> tuple[float, float]:
    """Return the derivatives of F at both ends of a curve from one subspace to another.

    The curve from Q to Y starts in the horizontal direction D = Y (Q'Y)^-1 - Q, and ends in the
    corresponding one.

    Parameters
    ----------
    current, trial : Iterate

    Returns
    -------
    float, float
        Infinite where Q'Y has no inverse.

    Notes
    -----
    6nr² flops, and the inverse of an (r, r) matrix.
    """
    cosines = current.basis @ trial.basis.T
    try:
        inverse = namespace(cosines).linalg.inv(cosines)
    except np.linalg.LinAlgError:
        return np.inf, np.inf
    first = inner(current.tangent @ trial.basis.T, inverse.T)
    last = inner(trial.tangent @ current.basis.T, inverse)
    return float(first), -float(last)


def next_step_size(step_size: float, largest: float, accepted: int) -> tuple[float, int]:
    """Return s after a step that was accepted, and the number of these since s last changed.

    Parameters
    ----------
    step_size, largest : float
        s, and its initial value.
    accepted : int
        The number before this step.
    """
    if step_size < largest and accepted + 1 >= PATIENCE:
        return min(GROWTH * step_size, largest), 0
    return step_size, accepted + 1


def unresolved(current: Iterate) -> bool:
    """Return whether the gradient is so small that gains of F are near rounding."""
    return current.relative_gradient**2 <= RESOLVED * sqrt(units(current.basis))


def units(A: Any) -> float:
    """Return the rounding unit of an array in units of that of double precision."""
    if is_plain(A):
        return 1.0
    return float(namespace(A).finfo(A.dtype).eps) / float(np.finfo(np.float64).eps)
