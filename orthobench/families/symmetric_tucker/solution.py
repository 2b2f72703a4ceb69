"""Solutions that are symmetric CP decompositions, in place of a Tucker basis."""

from __future__ import annotations

from dataclasses import dataclass

from orthobench.contract.problem import Solution


@dataclass(frozen=True)
class ComponentSolution(Solution):
    """A symmetric CP decomposition sum_i w_i v_i ⊗ ... ⊗ v_i: no basis, but unit columns.

    Its ``point`` is V (n, r'), its ``weights`` are w (r',); r' may be any number.
    """
