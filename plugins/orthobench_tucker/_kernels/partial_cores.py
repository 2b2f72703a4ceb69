"""Partial cores W = X ·(I, Q, ..., Q) of the tensor X, in one of two forms.

*Implicit*: from the samples whose moment X is. *Explicit*: from all entries of X. Objective,
gradient and core follow from W by the same formulae
(`orthobench_tucker.sample_moments`), so that a method is the same in both forms.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from orthobench.contract import AnyProblem, Array, parameter
from orthobench_tucker import (
    MomentOracle,
    SymmetricTensorOracle,
    SymmetricTucker,
    tensor_refusal,
)
from orthobench_tucker._kernels.sample_cores import SampleCores
from orthobench_tucker._kernels.tensor_cores import TensorCores
from orthobench_tucker.sample_moments import monomials

FORMS = ("auto", "implicit", "explicit")
"""Values of the parameter ``form``; ``"auto"`` is implicit where there are samples."""


class PartialCores(Protocol):
    """The partial cores of a tensor, with a column for each monomial of degree d - 1.

    Attributes
    ----------
    n, order : int
        n and d.
    """

    n: int
    order: int

    def at(self, Q: Any) -> Any:
        """Return W = X ·(I, Q, ..., Q), shape (n, N)."""

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V, shape (n, N)."""

    def at_flops(self, rank: int) -> int:
        """Return the flops of `at`."""

    def along_flops(self, rank: int) -> int:
        """Return the flops of `along`."""


def form_parameter(default: str = "auto") -> Any:
    """Declare the parameter ``form`` of a solver of this family."""
    return parameter(
        default,
        help="from the samples, from the tensor with all its entries, or from samples if there are",
        choices=FORMS,
    )


def partial_cores(oracle: SymmetricTensorOracle, form: str) -> PartialCores:
    """Return the partial cores of an oracle's tensor, in a form of `FORMS`."""
    samples = oracle.X if form != "explicit" and isinstance(oracle, MomentOracle) else None
    return TensorCores(oracle.T) if samples is None else SampleCores(samples, oracle.order)


def unfolded(W: Array, rank: int, order: int) -> Array:
    """Return the unfolding of X ·(I, Q, ..., Q), with equal columns combined into one.

    W diag(c)^½ with the multiplicities c has the same norm, singular values and left singular
    vectors.
    """
    return np.asarray(W * np.sqrt(monomials(rank, order - 1).multiplicities))


def forming_flops(oracle: SymmetricTensorOracle, form: str) -> int:
    """Return the flops of forming the tensor, where the form needs it; else zero."""
    implicit = form != "explicit" and isinstance(oracle, MomentOracle)
    return 0 if implicit else oracle.forming_flops


def refusal(problem: AnyProblem, form: str, start: str = "random") -> str | None:
    """Return why a solver that uses the whole tensor cannot take a problem, or None.

    Parameters
    ----------
    problem : Problem
        Any problem; None is returned for those of other families.
    form : str
        One of `FORMS`.
    start : str
        One of `orthobench_tucker.starts.STARTS`.
    """
    if not isinstance(problem, SymmetricTucker):
        return None
    if problem.streamed:
        return "needs all samples at once, and here they only stream"
    sampled = issubclass(problem.offers, MomentOracle)
    if form == "implicit" and not sampled:
        return "is implicit here, and the problem has a tensor, not samples"
    if start in ("sketch", "shoevd") and not sampled:
        return f"starts with {start} here, and the problem has a tensor, not samples"
    shape = problem.tensor_shape
    if (form == "explicit" or not sampled) and shape is not None:
        return tensor_refusal(shape[0], len(shape))
    return None
