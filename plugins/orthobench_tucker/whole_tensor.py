"""The base of the solvers that use the whole tensor, and their starts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from orthobench_kit.signs import signs

from orthobench.contract import (
    AnyProblem,
    Array,
    Solver,
    UsageError,
    complete,
    copied,
    is_plain,
    parameter,
)
from orthobench.contract.solver import StateT
from orthobench_tucker import (
    MomentOracle,
    MomentStream,
    SymmetricTensorOracle,
    SymmetricTucker,
    tensor_refusal,
)
from orthobench_tucker._kernels.arrays import with_positive_largest
from orthobench_tucker._kernels.partial_cores import samples_of
from orthobench_tucker._kernels.unfoldings import Unfolding, gram_cost
from orthobench_tucker.solvers.khatri_rao_sketch import sketched_basis, sketched_basis_flops
from orthobench_tucker.streaming import hoevd_ascent, hoevd_flops, split

FORMS = ("auto", "implicit", "explicit")
"""Values of the parameter ``form``; ``"auto"`` is implicit if there are samples."""

STARTS = ("auto", "hoevd", "hoevd-single", "sketch", "shoevd", "random")
"""Values of the parameter ``start``: "auto" is `hoevd_basis`, or the sketch if that takes too long;
"hoevd-single" is `hoevd_basis` in single precision, to about 1e-6; "random" is the oracle's start.
"""

FROM_SAMPLES = ("sketch", "shoevd")
"""Starts that need samples."""

MANY = 10_000
"""Number of samples whose pairs "auto" compares; more only if entries are cheaper than these."""

BATCHES, BATCH = 20, 50
"""Number of batches of "shoevd", and samples in each (Jin et al. 2022, Figure 3b)."""


def form_parameter() -> Any:
    """Declare the parameter ``form``."""
    return parameter(
        "auto",
        help="from samples, from the whole tensor, or from samples if there are",
        choices=FORMS,
    )


def start_parameter() -> Any:
    """Declare the parameter ``start``."""
    return parameter(
        "auto",
        help="first basis: HOEVD, also in single precision, a sketch, SHOEVD on 1,000 samples, "
        "random, or HOEVD up to 10,000 samples and else the sketch",
        choices=STARTS,
    )


class WholeTensorSolver(Solver[SymmetricTensorOracle, StateT]):
    """Base of the solvers that use the whole tensor, in a form and from a start."""

    converges: ClassVar[bool] = True

    form: str = "explicit"
    start: str = "random"

    def refuses(self, problem: AnyProblem) -> str | None:
        return super().refuses(problem) or refusal(problem, self.form, self.start)

    def first_basis(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> Any:
        """Return the basis (n, r) that the solver starts from, a fresh array in C order.

        Raises
        ------
        UsageError
            If a start needs samples in NumPy, and there are none.
        """
        start = self._chosen_start(oracle)
        if start == "random":
            return copied(oracle.start)
        if start == "hoevd":
            return hoevd_basis(oracle, self.form)
        if oracle.place.moves:
            advice = f"take hoevd or random on {oracle.place}"
            raise UsageError(f"the start {start} takes numpy: {advice}")
        if start == "hoevd-single":
            return signed(Unfolding(oracle, self.form).single_basis, oracle.start)
        X = samples_of(oracle, "auto")
        if X is None:
            advice = "take hoevd or random"
            raise UsageError(f"the start {start} needs samples, and there is a tensor: {advice}")
        if start == "shoevd":
            return shoevd_basis(X, oracle.order, oracle.start)
        found = sketched_basis(X, oracle.order, oracle.k, rng)
        return complete(found, oracle.start, oracle.k)

    def start_flops(self, oracle: SymmetricTensorOracle) -> int:
        """Return the flops of forming the tensor and of the start."""
        start, formed = self._chosen_start(oracle), forming_flops(oracle, self.form)
        if start == "random":
            return formed
        if start not in FROM_SAMPLES:
            return formed + Unfolding(oracle, self.form).flops
        X = samples_of(oracle, "auto")
        if start == "sketch":
            return formed + sketched_basis_flops(len(X), *oracle.sizes)
        return formed + sum(
            count * hoevd_flops(oracle.sizes, batch)
            for _, batch, count in split(X[: BATCHES * BATCH, :], BATCH)
        )

    def _chosen_start(self, oracle: SymmetricTensorOracle) -> str:
        if self.start != "auto":
            return self.start
        X = samples_of(oracle, self.form)
        slow = X is not None and X.shape[0] > MANY and gram_cost(X, oracle.order) > _most(X)
        return "sketch" if slow else "hoevd"


def _most(X: Any) -> int:
    """Return the operations of all pairs of `MANY` samples."""
    return 2 * MANY**2 * int(X.shape[1])


def hoevd_basis(oracle: SymmetricTensorOracle, form: str) -> Any:
    """Return the leading r eigenvectors of mat(X) mat(X)': equation 7, or 17 from samples.

    The largest entry of each is positive. The oracle's random start completes eigenvectors of zero.
    """
    return signed(Unfolding(oracle, form).basis, oracle.start)


def signed(found: Any, start: Any) -> Any:
    """Return eigenvectors with positive largest entries, completed from a start."""
    if not is_plain(found):
        return complete(with_positive_largest(found), start, start.shape[1])
    return complete(np.ascontiguousarray(signs(found) * found), start, start.shape[1])


def shoevd_basis(X: Array, order: int, start: Array) -> Array:
    """Return the basis after 20 steps of streaming HOEVD on the first 20 batches of 50 samples.

    X is (p, n), `start` (n, r). The last batch may be smaller. Jin, Kileel, Kolda and Ward 2022,
    Algorithm 3, with c_1 = 1 (`orthobench_tucker.solvers.shoevd`).
    """
    rows, gamma = np.array(start.T, order="C"), np.zeros(start.shape[1])
    for samples, batch, _ in split(X[: BATCHES * BATCH, :], BATCH):
        hoevd_ascent(samples, batch, rows, gamma, order, 1.0)
    return np.ascontiguousarray(rows.T)


def forming_flops(oracle: SymmetricTensorOracle, form: str) -> int:
    """Return the flops of forming the tensor, if the form needs it."""
    return oracle.forming_flops if samples_of(oracle, form) is None else 0


def refusal(problem: AnyProblem, form: str, start: str = "random") -> str | None:
    """Return why a whole-tensor solver cannot take a problem, or None."""
    if not isinstance(problem, SymmetricTucker):
        return None
    if problem.streamed:
        return "needs all samples at once, and here they only stream"
    sampled = issubclass(problem.offers, MomentOracle)
    if form == "implicit" and not sampled:
        return "is implicit here, and the problem has a tensor, not samples"
    if start in FROM_SAMPLES and not sampled:
        return f"starts with {start} here, and the problem has a tensor, not samples"
    shape = problem.tensor_shape
    if (form == "explicit" or not sampled) and shape is not None:
        return tensor_refusal(shape[0], len(shape))
    return None


def refusal_of_blocks(problem: AnyProblem) -> str | None:
    """Return why a problem has no blocks of samples, or None."""
    if issubclass(problem.offers, MomentStream):
        return None
    return f"needs a MomentStream on blocks, {problem.name} offers {problem.offers.__name__}"
