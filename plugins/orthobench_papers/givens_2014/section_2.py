"""Section 2: Givens rotations, their sign, and what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import cos, sin
from typing import Any, ClassVar, TypeAlias

import numpy as np
from orthobench_kit.geometry import rotate

from orthobench.contract import Array, random_point
from orthobench.tools.geometry import drift
from orthobench_papers.reproduce import Evidence

Turn: TypeAlias = Callable[[Array, int, int, float], None]

ANGLES = np.linspace(-np.pi, np.pi, 721)


def printed_turn(A: Array, i: int, j: int, angle: float) -> None:
    """Set A <- A G(i, j, angle) with the G of section 2.2, of opposite sign."""
    G = np.eye(A.shape[1])
    G[[i, j], [i, j]] = cos(-angle)
    G[i, j], G[j, i] = -sin(-angle), sin(-angle)
    A[:] = A @ G


def equation_6(x: Array, y: Array, gamma: float) -> Array:
    """Return equation 6 for columns x, y of AU at all `ANGLES`, as printed."""
    c, s = np.cos(ANGLES)[:, None], np.sin(ANGLES)[:, None]
    first = np.maximum(np.abs(c * x + s * y) - gamma, 0.0)
    second = np.maximum(np.abs(-s * x + c * y) - gamma, 0.0)
    values: Array = np.sum(first**2 + second**2, axis=1)
    return values


def gains(seed: int, turn: Turn) -> bool:
    """Return whether a step does not lower the objective."""
    rng = np.random.default_rng(seed)
    AU = rng.standard_normal((12, 5))
    gamma = 0.3 * float(np.linalg.norm(AU, axis=1).max())
    angle = float(ANGLES[np.argmax(equation_6(AU[:, 1], AU[:, 3], gamma))])
    before = np.sum(np.maximum(np.abs(AU) - gamma, 0.0) ** 2)
    turn(AU, 1, 3, angle)
    after = np.sum(np.maximum(np.abs(AU) - gamma, 0.0) ** 2)
    return bool(after >= before * (1 - 1e-12))


class Counted(float):
    """A number that counts additions, subtractions and multiplications.

    Attributes
    ----------
    flops : int
        Operations on all such numbers since the last reset.
    """

    flops: ClassVar[int] = 0

    def __add__(self, other: float) -> Counted:
        Counted.flops += 1
        return Counted(float(self) + float(other))

    def __sub__(self, other: float) -> Counted:
        Counted.flops += 1
        return Counted(float(self) - float(other))

    def __mul__(self, other: float) -> Counted:
        Counted.flops += 1
        return Counted(float(self) * float(other))

    __radd__, __rmul__ = __add__, __mul__


def flops_of_a_rotation(evidence: Evidence) -> Iterator[float]:
    for seed in evidence.seeds[:20]:
        rng = np.random.default_rng(seed)
        d = int(rng.integers(2, 60))
        A: Any = np.frompyfunc(Counted, 1, 1)(rng.standard_normal((d, 4)))
        Counted.flops = 0
        rotate(A, 0, 2, float(rng.uniform(-3, 3)))
        yield Counted.flops / d


def reduced(seed: int, d: int) -> bool:
    """Return whether d(d-1)/2 rotations reduce a matrix to I."""
    U = random_point(d, d, np.random.default_rng(seed))
    if np.linalg.det(U) < 0:
        U[:, 0] *= -1
    R, rotations = U.copy(), 0
    for row in range(d - 1):
        for column in range(d - 1, row, -1):
            angle = float(np.arctan2(R[row, column], R[row, row]))
            rotate(R, row, column, angle)
            rotations += 1
    return bool(np.abs(R - np.eye(d)).max() < 1e-12 and drift(R) < 1e-12) and (
        rotations <= d * (d - 1) // 2
    )
