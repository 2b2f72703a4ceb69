"""Streaming HOEVD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import parameter
from orthobench_tucker.streaming import HOEVD, STEPS, Phase, StreamingTucker


@dataclass(frozen=True)
class SHOEVD(StreamingTucker):
    """Scalable HOEVD: stochastic ascent of |mat(M)'Q|² on batches of samples, with AdaGrad.

    For each batch X (n, b), with an entrywise power [d-1]::

        G = (2/b²) X (X'X)^[d-1] X'Q
        gamma <- (gamma² + |g|²)^(1/2) for each column g of G
        Q <- qr(Q + step G / gamma)

    gamma starts at 1e-5 times the norm of the first gradient that is not zero, since 1e-5 itself
    stops all motion if |G| is far smaller; the paper's `step` of 0.05 (section 4.3) hardly moves Q.
    Misprint corrected: line 6 of Algorithm 3 has gamma_t for gamma_{t-1} on the right-hand side.
    The square of a batch's moment has a bias of order 1/b. The run fails at a batch whose gradient
    overflows.

    Notes
    -----
    2nb² + (d - 2)b² + 2rb² + 4rnb + 4nr + 4nr² - 4r³/3 flops a step. Memory: 2nr doubles and the
    batch.

    References
    ----------
    Jin, Kileel, Kolda and Ward 2022, "Scalable symmetric Tucker tensor decomposition", Algorithm 3
    and equation 14.
    """

    step_size: float = parameter(1.0, help="c_1 of AdaGrad", name="step", above=0.0, grid=STEPS)
    batch: int = parameter(50, help="samples a step", low=1)

    name: ClassVar[str] = "shoevd"
    source: ClassVar[str] = "Jin, Kileel, Kolda and Ward 2022, Algorithm 3"

    def phases(self) -> list[Phase]:
        return [Phase(HOEVD, self.batch, self.step_size)]
