"""Checks of the sizes of a problem on the Stiefel manifold."""

from __future__ import annotations

from orthobench.contract import ParameterError


def check_columns(n: int, p: int) -> None:
    """Refuse more columns than rows.

    Raises
    ------
    ParameterError
        Names the parameter.
    """
    if p > n:
        raise ParameterError("p", f"p = {p} columns are more than n = {n} rows")
