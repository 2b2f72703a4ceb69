"""Matrix stochastic gradient, also with a cap on the rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import SampleOracle, UsageError, parameter
from orthobench_stochastic_pca._kernels.iterates import BLOCK, Iterate, Onto, Projection
from orthobench_stochastic_pca.rank_updates import on_subspace, scaled_identity
from orthobench_stochastic_pca.relaxed import MANY, Relaxed, average_parameter, start_parameter


@dataclass(frozen=True)
class MSG(Relaxed):
    """Matrix stochastic gradient: M <- P(M + eta_t x x') on {0 <= M <= I, tr M = k}.

    P shifts all eigenvalues by one number and clips them to [0, 1], so that they sum to k. From
    zero, as in Theorem 1, the trace grows to k first; until then P only clips. The rank adapts: an
    update adds a direction, the shift removes those of small eigenvalues. The average is that of
    M(1), ..., M(t) (step 3 of section 3.1).

    Notes
    -----
    At rank m, in blocks of b samples, about 2(m + b)(1 + m/b)d + 2m²(m + b) flops a sample, and 2(m
    + b)²m more for the average. Memory: 3(m + b)d doubles, and d times the rank of the average.

    References
    ----------
    Arora, Cotter and Srebro 2013, Algorithms 1 and 2, with the last test of Algorithm 2 corrected
    (`orthobench_stochastic_pca._kernels.projection.shift`).
    """

    start: str = start_parameter()
    average: bool = average_parameter()

    block: ClassVar[int] = MANY
    name: ClassVar[str] = "msg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, Algorithms 1 and 2"

    def initial(self, oracle: SampleOracle) -> Iterate:
        if self.start == "zero":
            return scaled_identity(oracle.n, 0.0)
        return on_subspace(oracle.start, 1.0, full=True)

    def projection(self, oracle: SampleOracle) -> Projection:
        return Projection(Onto.FANTOPE, oracle.k, oracle.n)


@dataclass(frozen=True)
class CappedMSG(MSG):
    """Capped MSG: matrix stochastic gradient with rank M <= K.

    The projection keeps the K largest eigenvalues, which is optimal, then shifts and clips them;
    once the trace has reached k the shift may be positive. Among equal eigenvalues it keeps those
    of directions that the sample did not touch. With K = k samples orthogonal to M do not move it
    if eta_t |x|² < 1. The cost is that of `MSG` at a rank m <= K.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 5.
    """

    K: int | None = parameter(None, help="largest rank of M; none means k + 1", low=1)

    block: ClassVar[int] = BLOCK
    name: ClassVar[str] = "capped-msg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 5.1"

    def projection(self, oracle: SampleOracle) -> Projection:
        """Return the projection of the K largest eigenvalues.

        Raises
        ------
        UsageError
            If K < k.
        """
        max_rank = oracle.k + 1 if self.K is None else self.K
        if max_rank < oracle.k:
            raise UsageError(
                f"capped-msg: K = {max_rank} is below k = {oracle.k}, the rank of every solution; "
                "set K to k or more"
            )
        return Projection(Onto.CAPPED, oracle.k, min(max_rank, oracle.n))
