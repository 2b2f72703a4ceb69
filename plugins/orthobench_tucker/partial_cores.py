"""What methods ask of the tensor X: its partial core W = X ·(I, Q, ..., Q), in one of two forms.

*Implicit*: from the samples that X is the moment of. *Explicit*: from all its entries. Everything
else, objective, gradient, core, follows from W by the same formulae
(`orthobench.families.symmetric_tucker.sample_moments`), so that a method is the same in both forms.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from orthobench.contract import AnyProblem, Array, parameter
from orthobench.families.symmetric_tucker import (
    MomentOracle,
    SymmetricTensorOracle,
    SymmetricTucker,
    tensor_refusal,
)
from orthobench.families.symmetric_tucker.monomials import monomials
from orthobench_tucker.sample_cores import SampleCores
from orthobench_tucker.tensor_cores import TensorCores

FORMS = ("auto", "implicit", "explicit")


class PartialCores(Protocol):
    """Partial cores of one tensor, a column for each monomial of degree d - 1.

    Attributes
    ----------
    n, order : int
    """

    n: int
    order: int

    def at(self, Q: Array) -> Array:
        """Return W = X ·(I, Q, ..., Q), shape (n, N)."""

    def along(self, Q: Array, V: Array) -> Array:
        """Return the derivative of W in the direction V, shape (n, N)."""

    def at_flops(self, rank: int) -> int:
        """Flops of `at`."""

    def along_flops(self, rank: int) -> int:
        """Flops of `along`."""


def form_parameter(default: str = "auto") -> Any:
    """Declare the parameter ``form`` of a solver of this family."""
    return parameter(
        default,
        help="work on the samples, on the tensor with all its entries, or samples where there are",
        choices=FORMS,
    )


def partial_cores(oracle: SymmetricTensorOracle, form: str) -> PartialCores:
    """Return the partial cores of an oracle's tensor in a form; ``"auto"`` prefers samples."""
    if form != "explicit" and isinstance(oracle, MomentOracle):
        return SampleCores(oracle.X, oracle.order)
    return TensorCores(oracle.T)


def unfolded(W: Array, rank: int, order: int) -> Array:
    """Return the unfolding of X ·(I, Q, ..., Q), whose equal columns are one each.

    W diag(c)^½, c the multiplicities: with the same norm, left singular vectors and values.
    """
    return np.asarray(W * np.sqrt(monomials(rank, order - 1).multiplicities))


def forming_flops(oracle: SymmetricTensorOracle, form: str) -> int:
    """Return the flops that forming the tensor takes, where a form needs that."""
    implicit = form != "explicit" and isinstance(oracle, MomentOracle)
    return 0 if implicit else oracle.forming_flops


def refusal(problem: AnyProblem, form: str, start: str = "random") -> str | None:
    """Return why a solver that needs the whole tensor cannot take a problem, or None.

    Parameters
    ----------
    problem : Problem
        One that offers a `SymmetricTensorOracle`, or any other, which is for others to refuse.
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
    if start == "shoevd" and not sampled:
        return "starts with SHOEVD here, and the problem has a tensor, not samples"
    shape = problem.tensor_shape
    if (form == "explicit" or not sampled) and shape is not None:
        return tensor_refusal(shape[0], len(shape))
    return None
