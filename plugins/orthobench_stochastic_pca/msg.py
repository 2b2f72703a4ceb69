"""Matrix stochastic gradient, and the same with a cap on the rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from orthobench.contract import Array, SampleOracle, UsageError, parameter
from orthobench_stochastic_pca.blocks import BLOCK
from orthobench_stochastic_pca.rank_updates import on_start, zero
from orthobench_stochastic_pca.relaxed import Relaxed, average_parameter, start_parameter
from orthobench_stochastic_pca.spectrum import CAPPED, FANTOPE, Iterate, Rule


@dataclass(frozen=True)
class MSG(Relaxed):
    """Matrix stochastic gradient: M <- P(M + eta_t x x') on {0 <= M <= I, tr M = k}.

    P shifts and clips the eigenvalues so that they lie in [0, 1] and sum to k. Started at zero
    the trace grows to k first: until then P only clips (Theorem 1's start). The rank adapts: an
    update adds a direction, the shift removes those of small eigenvalues. A small step from
    zero is a weighted average of the samples, with a rank of hundreds.

    Parameters
    ----------
    start : str
        Zero, or the projection onto the span of the oracle's random start.
    average : bool
        Read the solution off the mean of M(1), ..., M(t) (step 3 of section 3.1). Costs 2(m+b)²m
        flops a sample more and memory d times the rank of the average.

    References
    ----------
    Arora, Cotter and Srebro 2013, Algorithms 1 and 2, with the last test of Algorithm 2
    corrected (`orthobench_stochastic_pca.projection.shift`).
    """

    start: str = start_parameter()
    average: bool = average_parameter()

    block: ClassVar[int] = 24
    name: ClassVar[str] = "msg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, Algorithms 1 and 2"

    @property
    def averages(self) -> bool:
        """Whether the iterates are summed up."""
        return self.average

    def rule(self, oracle: SampleOracle) -> Rule:
        """Project onto the fantope."""
        return Rule(FANTOPE, oracle.k, oracle.n)

    def first(self, oracle: SampleOracle) -> Iterate:
        """Return zero or the projection onto the oracle's start."""
        if self.start == "zero":
            return zero(oracle.n)
        return on_start(oracle.start, 1.0, full=True)

    def eigenvalues(self, matrix: Iterate) -> tuple[Array, float]:
        """Return the values kept: M itself is kept."""
        return matrix.values, 0.0


@dataclass(frozen=True)
class CappedMSG(MSG):
    """Capped MSG: matrix stochastic gradient with rank M <= K.

    The projection keeps the K largest eigenvalues, which is optimal, then shifts and clips
    those; the shift may be positive, once the trace has reached k. Of equal eigenvalues, those
    of the directions that a sample did not touch are kept. With K = k every M of trace k is a
    projection, and samples orthogonal to it never move it while eta_t |x|² < 1.

    Parameters
    ----------
    K : int, optional
        The largest rank, at least k; k + 1 where not given, as the paper recommends.

    References
    ----------
    Arora, Cotter and Srebro 2013, section 5.
    """

    K: int | None = parameter(None, help="largest rank of M; none means k + 1", low=1)

    block: ClassVar[int] = BLOCK
    name: ClassVar[str] = "capped-msg"
    source: ClassVar[str] = "Arora, Cotter and Srebro 2013, section 5.1"

    def rule(self, oracle: SampleOracle) -> Rule:
        """Keep the K largest eigenvalues, and project those.

        Raises
        ------
        UsageError
            Where K < k: no feasible matrix has so low a rank.
        """
        most = oracle.k + 1 if self.K is None else self.K
        if most < oracle.k:
            raise UsageError(
                f"capped-msg: K = {most} is below k = {oracle.k}, the rank of every solution; "
                "set K to k or more"
            )
        return Rule(CAPPED, oracle.k, min(most, oracle.n))
