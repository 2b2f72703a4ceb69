"""Parameters that several solvers of sparse PCA declare alike."""

from __future__ import annotations

from typing import Any

from orthobench.contract.parameters import parameter


def gamma_parameter(default: float, unit: str) -> Any:
    """Declare the parameter ``gamma``, the relative penalty, of a solver of sparse PCA.

    All solvers have the same grid: which value gives a certain density depends on the data and
    the method.

    Parameters
    ----------
    default : float
    unit : str
        The quantity that the penalty is relative to.
    """
    return parameter(
        default,
        help="penalty; loadings are fewer where it is larger",
        unit=unit,
        low=0.0,
        below=1.0,
        grid=(0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65, 0.8),
    )


def loadings_parameter() -> Any:
    """Declare the parameter ``loadings`` of a solver that finds U first, and Z from U."""
    return parameter(
        "filled",
        choices=("filled", "thresholded"),
        help="Z in the pattern found: what explains most variance, or AU less the penalty",
    )
