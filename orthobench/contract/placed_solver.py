"""Solvers that compute wherever users say: `PlacedSolver`."""

from __future__ import annotations

from dataclasses import dataclass

from orthobench.contract.parameters import ParameterError, parameter
from orthobench.contract.problem import AnyProblem
from orthobench.contract.solver import OracleT_contra, Solver, StateT
from orthobench.errors import UsageError
from orthobench.tools.places import Place, place_of


@dataclass(frozen=True, kw_only=True)
class PlacedSolver(Solver[OracleT_contra, StateT]):
    """Base of solvers with a place to compute as a parameter: `ArraySolver`, `SummarySolver`.

    Parameters
    ----------
    on : str
        ``LIBRARY[:DEVICE][/DTYPE]``, such as ``"torch:cuda/float32"``; or where blocks of samples
        are summarized, ``"blocks"``, ``"dask:WORKERS"`` or ``"dask:ADDRESS"``.
    """

    on: str = parameter(
        "numpy",
        help="where to compute: LIBRARY[:DEVICE][/DTYPE], such as torch:cuda/float32; "
        "blocks, dask:WORKERS or dask:ADDRESS",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        try:
            place = place_of(self.on)
        except UsageError as error:
            raise ParameterError("on", str(error)) from None
        if not self.computes_on(place):
            raise ParameterError("on", elsewhere(place))
        object.__setattr__(self, "on", str(place))

    @property
    def place(self) -> Place:  # type: ignore[override]
        """Where it computes."""
        return place_of(self.on)

    @property
    def packages(self) -> tuple[str, ...]:  # type: ignore[override]
        """The distribution that computes there, where that is not NumPy."""
        return self.place.packages

    def refuses(self, problem: AnyProblem) -> str | None:
        """Return why this solver cannot take a problem, or why nothing can be computed there."""
        return super().refuses(problem) or self.place.missing()


def elsewhere(place: Place) -> str:
    """Return a sentence that a solver does not compute at a place."""
    if place.reduces:
        return f"it makes no summaries of blocks, which {place} takes"
    return f"it computes with numpy in float64 only, not with {place}"
