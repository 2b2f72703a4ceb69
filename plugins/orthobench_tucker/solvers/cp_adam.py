"""Symmetric CP decomposition by Adam."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from orthobench.contract import Array, Solver, State, Status, flops, parameter
from orthobench_tucker import ComponentSolution, MomentStream
from orthobench_tucker.sample_moments import integer_power, sample_blocks
from orthobench_tucker.streaming import split

JITTER = 1e-3
"""Norm of noise on unit vectors at the start, since equal components would stay equal."""


class CPIterate(NamedTuple):
    """Components, then weights, in `point` (r'(n + 1),), and Adam's running means.

    The model is the mean of w_i v_i ⊗ ... ⊗ v_i, of data whose entries have mean square one.
    """

    point: Array
    mean: Array
    square: Array
    iterations: int

    @classmethod
    def at(cls, components: Array, weights: Array) -> CPIterate:
        """Return components (r', n) with weights (r',), and empty means."""
        point = np.concatenate([components.ravel(), weights])
        return cls(point, np.zeros_like(point), np.zeros_like(point), 0)

    def components(self, n: int) -> Array:
        """Return the components as rows (r', n), a view."""
        return self.point[: len(self.point) // (n + 1) * n].reshape(-1, n)

    def weights(self, n: int) -> Array:
        """Return the weights (r',), a view."""
        return self.point[len(self.point) // (n + 1) * n :]

    def copy(self) -> CPIterate:
        """Return a copy."""
        return CPIterate(self.point.copy(), self.mean.copy(), self.square.copy(), self.iterations)


@dataclass(slots=True, kw_only=True)
class CPState(State):
    """The iterate, the best one at the end of an epoch, and the samples that judge them.

    Attributes
    ----------
    value : float
        The objective of the best; NaN before the first epoch ends.
    scale : float
        Root mean square of the entries of the first batch that is not zero; zero before that.
    judged : ndarray, shape (E, n)
        The first samples of the stream, of which `held` are read.
    done : int
        Number of batches of the current epoch so far.
    fails : int
        Number of failed epochs.
    """

    rng: np.random.Generator
    n: int
    order: int
    iterate: CPIterate
    best: CPIterate
    value: float = float("nan")
    scale: float = 0.0
    judged: Array
    held: int = 0
    done: int = 0
    fails: int = 0


@dataclass(frozen=True)
class CPAdam(Solver[MomentStream, CPState]):
    """Stochastic implicit symmetric CP: M ≈ sum_i w_i v_i ⊗ ... ⊗ v_i, by Adam.

    Minimizes |M̂ - M|² over components and weights, by the gradient of |M̂|² - 2<M̂, M_b> with the
    moment M_b of a batch. After `epoch` steps the objective is estimated on the first `judged`
    samples of the stream. If it fell by less than `improvement`, the epoch has failed: the iterate
    returns to the best, and the learning rate is multiplied by `decay`. After more than `fails`
    failed epochs the run has converged.

    Rate, batch and epoch are those of Jin et al. 2022; `decay`, the start and Adam's constants
    those of the Tensor Toolbox (cp_isym). Unlike there the start combines samples of the first
    batch, batches follow the order of the stream, and data are divided by the root mean square of
    the first batch.

    Notes
    -----
    4(b + r')r'n + (d + 2)(b + r')r' + 14r'(n + 1) flops a step. Memory: E + b + 8r' samples, E =
    `judged`.

    References
    ----------
    Sherman and Kolda 2020, *Estimating higher-order moments using symmetric tensor decomposition*.
    Kingma and Ba 2015, *Adam: a method for stochastic optimization*, Algorithm 1. Kolda and Hong
    2020, *Stochastic gradients for large-scale tensor decomposition*. Jin, Kileel, Kolda and Ward
    2022, section 4.5.
    """

    components: int | None = parameter(
        None, help="components r'; none for the rank of the problem", low=1
    )
    step_size: float = parameter(
        0.05, help="Adam's learning rate", above=0.0, name="step", grid=(0.01, 0.02, 0.05, 0.1, 0.2)
    )
    decay: float = parameter(
        0.1, help="factor of the learning rate after a failed epoch", above=0.0, high=1.0
    )
    batch: int = parameter(50, help="samples a step", unit="samples", low=1)
    epoch: int = parameter(200, help="steps of an epoch", unit="steps", low=1)
    judged: int = parameter(
        10_000, help="first samples, on which epochs are judged", unit="samples", low=1
    )
    fails: int = parameter(3, help="failed epochs that do not end the run", low=0)
    improvement: float = parameter(
        1e-5, help="minimum relative fall of the objective in an epoch", low=0.0
    )
    beta1: float = parameter(0.9, help="decay of the mean gradient", low=0.0, below=1.0)
    beta2: float = parameter(0.999, help="decay of the mean square gradient", low=0.0, below=1.0)
    epsilon: float = parameter(1e-8, help="added to the root mean square gradient", above=0.0)

    name: ClassVar[str] = "cp-adam"
    source: ClassVar[str] = "Sherman and Kolda 2020, with Adam (Kingma and Ba 2015, Algorithm 1)"

    def init(self, oracle: MomentStream, rng: np.random.Generator) -> CPState:
        count = oracle.k if self.components is None else self.components
        nothing = CPIterate.at(np.zeros((count, oracle.n)), np.zeros(count))
        most = min(self.judged, self.epoch * self.batch)
        return CPState(
            rng=rng,
            n=oracle.n,
            order=oracle.order,
            iterate=nothing,
            best=nothing,
            judged=np.zeros((most, oracle.n)),
        )

    def advance(self, oracle: MomentStream, state: CPState, count: int) -> None:
        while count > 0 and state.status is Status.RUNNING:
            piece = min(count, self.epoch - state.done)
            for samples, batch, _ in split(oracle.take(piece * self.batch), self.batch):
                if len(samples) and state.status is Status.RUNNING:
                    self._descend(state, samples, batch)
            count -= piece
            if state.done == self.epoch and state.status is Status.RUNNING:
                self._judge(state)

    def solution(self, state: CPState) -> ComponentSolution:
        return solution(state.iterate, state.n, state.order, state.scale)

    def _descend(self, state: CPState, samples: Array, batch: int) -> None:
        from orthobench_tucker._kernels.cp import Settings, descend

        few = samples[: len(state.judged) - state.held]
        state.judged[state.held : state.held + len(few)] = few
        state.held += len(few)
        done, finite = 0 if state.scale else self._start(state, samples, batch), True
        if state.scale:
            settings = Settings(state.order, batch, self.beta1, self.beta2, self.epsilon)
            rate = self.step_size * self.decay**state.fails
            rest, iterate = samples[done * batch :], state.iterate
            more, finite = descend(iterate, rest, 1 / state.scale, rate, settings)
            state.iterate = iterate._replace(iterations=iterate.iterations + more)
            done += more
        state.done += done
        state.work.steps += done
        state.work.samples += done * batch
        state.work.flops += done * step_flops(state.n, self._count(state), batch, state.order)
        if not finite:
            state.status = Status.FAILED
            state.reason = f"the gradient of step {state.work.steps} overflows: rescale the data"

    def _start(self, state: CPState, samples: Array, batch: int) -> int:
        """Start from the first batch that is not zero; return the number before it."""
        batches = samples.reshape(-1, batch, state.n)
        sizes = np.linalg.norm(batches.reshape(len(batches), -1), axis=1)
        if not sizes.any():
            return len(batches)
        first = int(np.argmax(sizes > 0))
        state.scale = float(sizes[first]) / (batch * state.n) ** 0.5
        count = self._count(state)
        state.iterate = first_iterate(batches[first] / state.scale, count, state.rng)
        state.best = state.iterate.copy()
        state.work.flops += flops.gemm(count, state.n, batch)
        return first

    def _judge(self, state: CPState) -> None:
        state.done = 0
        if not state.scale:
            return
        if math.isnan(state.value):
            state.value = self._estimate(state, state.best)
        value = self._estimate(state, state.iterate)
        if value < state.value - self.improvement * abs(state.value):
            state.best, state.value = state.iterate.copy(), value
            return
        state.iterate = state.best.copy()
        state.fails += 1
        if state.fails > self.fails:
            state.status = Status.CONVERGED

    def _estimate(self, state: CPState, iterate: CPIterate) -> float:
        held = state.judged[: state.held]
        state.work.flops += objective_flops(state.n, self._count(state), state.held, state.order)
        return objective(iterate, held, state.order, 1 / state.scale)

    @staticmethod
    def _count(state: CPState) -> int:
        return len(state.iterate.point) // (state.n + 1)


def step_flops(n: int, count: int, batch: int, order: int) -> int:
    """Return the flops of a step."""
    rows = batch + count
    return 2 * flops.gemm(rows, count, n) + (order + 2) * rows * count + 14 * count * (n + 1)


def first_iterate(batch: Array, count: int, rng: np.random.Generator) -> CPIterate:
    """Return random combinations of samples (b, n), of length √n and weight one."""
    n = batch.shape[1]
    rows = _unit(rng.standard_normal((count, len(batch))) @ batch)
    rows += JITTER / np.sqrt(n) * rng.standard_normal(rows.shape)
    return CPIterate.at(np.sqrt(n) * rows, np.ones(count))


def objective(iterate: CPIterate, samples: Array, order: int, inverse: float = 1.0) -> float:
    """Return |M̂|² - 2<M̂, M>, M the moment of samples (p, n) times `inverse`."""
    n = samples.shape[1]
    rows, shares = iterate.components(n), iterate.weights(n)
    shares = shares / len(shares)
    scaled = inverse * rows
    inner = 0.0
    for block in sample_blocks(samples, len(rows)):
        powers = integer_power(block @ scaled.T, order)
        inner += float(powers.sum(axis=0) @ shares)
    own = shares @ integer_power(rows @ rows.T, order) @ shares
    return float(own) - 2 * inner / len(samples)


def objective_flops(n: int, count: int, samples: int, order: int) -> int:
    """Return the flops of `objective`: 2(p + r')r'n + d(p + r')r'."""
    rows = samples + count
    return flops.gemm(rows, count, n) + order * rows * count


def solution(iterate: CPIterate, n: int, order: int, scale: float) -> ComponentSolution:
    """Return unit columns and their weights; `scale` is the unit of the iterate.

    A component of zeros becomes a unit vector of weight zero. For odd order no weight is negative.
    """
    rows, weights = iterate.components(n), iterate.weights(n)
    lengths = np.linalg.norm(rows, axis=1)
    point = _unit(rows)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = weights / len(weights) * integer_power(scale * lengths, order)
    if order % 2:
        point[weights < 0] *= -1
        weights = np.abs(weights)
    return ComponentSolution(np.ascontiguousarray(point.T), weights)


def _unit(rows: Array) -> Array:
    """Return unit rows; zeros become the first unit vector."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.where(lengths > 0, lengths, 1.0)
    scaled[lengths[:, 0] == 0, 0] = 1.0
    return np.asarray(scaled)
