"""The base of the solvers that use the whole tensor, from samples or with all its entries."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from orthobench.contract import AnyProblem, Solver
from orthobench.contract.solver import StateT
from orthobench_tucker import MomentStream, SymmetricTensorOracle
from orthobench_tucker._kernels.partial_cores import forming_flops, refusal
from orthobench_tucker.starts import first_basis, first_basis_flops


class WholeTensorSolver(Solver[SymmetricTensorOracle, StateT]):
    """Base of the solvers that use the whole tensor.

    Attributes
    ----------
    form : str
        One of `orthobench_tucker._kernels.partial_cores.FORMS`.
    start : str
        One of `orthobench_tucker.starts.STARTS`.
    """

    converges: ClassVar[bool] = True

    form: str = "explicit"
    start: str = "random"

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why not: no tensor, no samples for this form or start, or too large a tensor."""
        return super().refuses(problem) or refusal(problem, self.form, self.start)

    def first_basis(self, oracle: SymmetricTensorOracle, rng: np.random.Generator) -> Any:
        """Return the basis (n, r) that the solver starts from, a fresh array; `rng` sketches."""
        return first_basis(oracle, self.start, self.form, rng)

    def start_flops(self, oracle: SymmetricTensorOracle) -> int:
        """Return the flops of forming the tensor, where the form needs it, and of the start."""
        formed = forming_flops(oracle, self.form)
        return formed + first_basis_flops(oracle, self.start, self.form)


def refusal_of_blocks(problem: AnyProblem) -> str | None:
    """Return why a problem has no blocks of samples for a method that sums over them, or None."""
    if issubclass(problem.offers, MomentStream):
        return None
    return f"needs a MomentStream on blocks, {problem.name} offers {problem.offers.__name__}"
