"""Streaming projected gradient ascent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from orthobench.contract import Array, ParameterError, flops, parameter
from orthobench_tucker import MomentStream
from orthobench_tucker._kernels.arrays import tucker_weights
from orthobench_tucker._kernels.partial_cores import monomial_products
from orthobench_tucker.sample_moments import monomials
from orthobench_tucker.streaming import (
    HOEVD,
    STEPS,
    Gradient,
    Phase,
    StreamingTucker,
    StreamState,
    step_flops,
)

GRAM_FORM = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0)
"""No monomials, for the Gram form."""
for _part in GRAM_FORM[:2]:
    _part.flags.writeable = False


@dataclass(frozen=True)
class SPGD(StreamingTucker):
    """Scalable projected gradient ascent of |M ·(Q, ..., Q)|² on batches of samples, with AdaGrad.

    Phase I is `shoevd`, for `hoevd_steps` steps; without it about half of the runs end in a bad
    local maximum. Phase II does the same along G = (2d/b²) X (X'QQ'X)^[d-1] X'Q for each batch X
    (n, b), from the b-by-b Gram matrix, as printed, or from the core of the batch, whichever is
    smaller. Large steps make it the power iteration. Batches bias the objective: E F_t(Q) = (1 -
    1/b) F(Q) + (1/b) E|Q'x|^(2d).

    Misprints corrected in Algorithm 2: the factor 2d/b² in line 3 is printed 2d/b; gamma_2 starts
    at t = T_1, and T_2 is the number of iterations of Phase II (Table 2). The run fails at a batch
    whose gradient overflows.

    Notes
    -----
    4rnb + 4rb² + (d - 2)b² + 4nr + 4nr² - 4r³/3 flops a step of Phase II. Memory: 3nr doubles, the
    batch, and b min(N, b), N = C(r + d - 2, d - 1).

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, "Scalable symmetric Tucker tensor decomposition", Algorithm 2
    and equation 13.
    """

    step_size: float = parameter(1.0, help="c_2 of AdaGrad", name="step", above=0.0, grid=STEPS)
    batch: int = parameter(50, help="samples a step", low=1)
    hoevd_steps: int = parameter(20, help="T_1, steps of Phase I; 0 leaves it out", low=0)
    hoevd_step: float = parameter(1.0, help="c_1, the step size of Phase I", above=0.0)
    hoevd_batch: int | None = parameter(
        None, help="b_1, samples a step of Phase I; none: batch", low=1
    )

    name: ClassVar[str] = "spgd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 2"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hoevd_batch is not None and self.hoevd_batch > self.batch:
            message = f"hoevd_batch must be at most batch = {self.batch}, not {self.hoevd_batch}"
            raise ParameterError("hoevd_batch", message)

    def init(self, oracle: MomentStream, rng: np.random.Generator) -> StreamState:
        state = super().init(oracle, rng)
        # without samples: it compiles Phase II, which a warm-up may not reach
        self.phases()[1].ascend(oracle, state, 0)
        return state

    def phases(self) -> list[Phase]:
        first = Phase(HOEVD, self.hoevd_batch or self.batch, self.hoevd_step, self.hoevd_steps)
        return [first, Phase(TUCKER, self.batch, self.step_size)]


@lru_cache(maxsize=16)
def monomial_table(
    rank: int, order: int, batch: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """Return the monomials for the core form, or `GRAM_FORM` if that is smaller."""
    if comb(rank + order - 2, order - 1) > batch:
        return GRAM_FORM
    parents, last, _ = monomial_products(rank, order - 1)
    return parents, last, monomials(rank, order - 1).multiplicities


def tucker_ascent(
    X: Array, batch: int, rows: Array, gamma: Array, order: int, step_size: float
) -> int:
    """Do lines 3 to 6 of Algorithm 2 for each batch; return their number."""
    from orthobench_tucker._kernels import ascent

    table = monomial_table(len(rows), order, batch)
    return ascent.tucker_ascent(X, batch, rows, gamma, order, step_size, *table)


def tucker_total(samples: Array, rows: Array, order: int) -> Array:
    """Return b (2d/b²) X (X'QQ'X)^[d-1] X'Q, transposed."""
    from orthobench_tucker._kernels.ascent import tucker_gradient

    table, G = monomial_table(len(rows), order, len(samples)), np.empty_like(rows)
    powers = np.empty((max(len(rows), len(table[0])), len(samples)))
    tucker_gradient(samples, rows, order, *table, powers, G)
    return len(samples) * G


def tucker_flops(sizes: tuple[int, ...], batch: int) -> int:
    """Return the flops of a step of Phase II, as the paper counts."""
    (n, r, order), b = sizes, batch
    products = 2 * flops.gemm(b, r, n) + 2 * flops.gemm(b, b, r)
    return products + (order - 2) * b * b + step_flops(n, r)


TUCKER = Gradient(tucker_ascent, tucker_total, tucker_weights, tucker_flops)
"""The gradient of |M ·(Q, ..., Q)|², Algorithm 2, line 3."""
