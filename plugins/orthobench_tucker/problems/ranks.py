"""Checks of the ranks of a Tucker problem."""

from __future__ import annotations

from orthobench.contract import ParameterError


def check_ranks(n: int, **ranks: int) -> None:
    """Refuse ranks that are larger than the dimension.

    Parameters
    ----------
    n : int
        Dimension of the tensor along each mode.
    **ranks : int
        Parameters by name.

    Raises
    ------
    ParameterError
        Names the parameter.
    """
    for name, value in ranks.items():
        if value > n:
            raise ParameterError(name, f"{name} = {value} is more than n = {n}")
