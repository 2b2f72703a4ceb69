"""Solvers from one source for NumPy, PyTorch, JAX and CuPy: `ArraySolver`."""

from __future__ import annotations

from typing import ClassVar

from orthobench.contract.ending import EndingState, read_end
from orthobench.contract.placed_solver import PlacedSolver
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import OracleT_contra, StateT
from orthobench.tools.places import Place


class ArraySolver(PlacedSolver[OracleT_contra, StateT]):
    """Base of solvers that are written against the array API standard.

    The oracle of a run has its arrays at the place that users name, `Oracle.start` and samples
    among them. The solver asks for their functions, ``xp = namespace(x)``, keeps to the standard
    (no writing into arrays, no einsum), and returns such arrays in its `Solution`. What it makes of
    NumPy arrays, such as random numbers, `like` moves there. In `advance` it should bring no value
    back to the host, since each one waits for the device: `orthobench.tools.scalars` and
    `EndingState` are for that. For NumPy it may call a compiled kernel of its own.

    Class attributes
    ----------------
    readings : float
        The most values that a step brings back to the host all the same. Each has a reason in the
        docstring of the solver. The one of `EndingState`, at the end of `advance`, does not count.
    """

    readings: ClassVar[float] = 0

    def advance(self, oracle: OracleT_contra, state: StateT, count: int) -> None:
        """Do `count` steps, or fewer where the status leaves ``RUNNING``; called on the clock."""
        super().advance(oracle, state, count)
        if isinstance(state, EndingState):
            read_end(oracle, state)

    @classmethod
    def computes_on(cls, place: Place) -> bool:
        """Return whether the arrays there are of a library, or what another base says."""
        return not place.reduces or super().computes_on(place)

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or why nothing can be computed there."""
        if why := super().refuses(problem):
            return why
        if not self.place.moves or problem.offers.portable:
            return None
        return f"{problem.name} has arrays of numpy only, not of {self.on}"
