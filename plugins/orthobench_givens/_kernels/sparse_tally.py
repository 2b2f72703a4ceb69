"""Gain and cost of the rotations of sparse PCA."""

from __future__ import annotations

from typing import NamedTuple


class Tally(NamedTuple):
    """Running totals over the rotations made so far.

    Attributes
    ----------
    gain : float
        Increase of the objective since the solver last reset this field.
    planes : int
        Pairs of columns searched.
    values, slopes : int
        Evaluations of equation 6 at an angle, without and with its three derivatives.
    rotated : int
        Pairs of columns rotated: those where some angle gains.
    entries : int
        Rows evaluated: in each plane those that can contribute, once for an evaluation without
        derivatives and twice for one with them.
    """

    gain: float = 0.0
    planes: int = 0
    values: int = 0
    slopes: int = 0
    rotated: int = 0
    entries: int = 0


def plane_flops(d: int, tally: Tally) -> int:
    """Return the flops of rotations as the paper counts them, over all d rows.

    In each plane 3d to find the rows outside the circle of radius gamma. For equation 6 at an
    angle 12d: 6d for the entries of both columns, 2d to subtract gamma, 4d for squares and their
    sum (absolute values and positive parts are free); with its three derivatives 24d. For a
    rotation 6d.

    Parameters
    ----------
    d : int
        Rows of A.
    tally : Tally

    Returns
    -------
    int
    """
    search = 3 * tally.planes + 12 * tally.values + 24 * tally.slopes
    return d * (search + 6 * tally.rotated)
