"""Share of the hardware's limit that each kernel reaches.

    python benchmarks/roofline.py [PATTERN [TURNS]]        the table of docs/guide/clock.md

The limit of a run is the larger of two times: its flops at the rate of matrix products with as many
columns, and its bytes at the rate of reading. The share is that limit over the seconds on our
clock. If the limit of one call is below `SMALL`, calls and loops bind it, and the table says so.
Flops are those that must be executed: half of a symmetric product. The table marks flops that are
the nominal ones of a paper.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from time import process_time_ns
from typing import Any, NamedTuple

import numpy as np
from clock import spent

import orthobench as ob
from orthobench.harness.cell import instance_of
from orthobench.harness.execution import CLOCK
from orthobench.tools.environment import limited

TURNS = 3

SMALL = 2e-5
"""Seconds of a call below which a bound of products or memory says little."""

BOUND = 0.6
"""The share from which on products or memory are what binds, whatever a call does."""


class Machine(NamedTuple):
    """The speed of one thread: flops a second in a product, and bytes a second read."""

    products: float
    reading: float


@dataclass(frozen=True)
class Kernel:
    """A solver on data of a real size.

    Attributes
    ----------
    solver : str
    made : callable
        Returns the instance of `size`.
    size : tuple of int
    flops : callable, optional
        Returns the flops that must be executed, from the size and the steps; without it those of
        ``work.flops``, which are nominal.
    reads : callable
        Returns how many numbers of float64 are read from memory, from the size, the steps and the
        passes over the data.
    steps : int, optional
        If the run would be too long or too short.
    together : int
        Steps that one call does.
    columns : int
        Columns of the products, if these are few.
    settings : mapping
        Parameters.
    """

    solver: str
    made: Callable[..., Any]
    size: tuple[int, ...]
    reads: Callable[[tuple[int, ...], float], float]
    flops: Callable[[tuple[int, ...], int], float] | None = None
    steps: int | None = None
    together: int = 1
    columns: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Measured:
    """A run of a kernel, with its bounds in seconds."""

    kernel: Kernel
    seconds: float
    steps: int
    by_products: float
    by_reading: float

    @property
    def share(self) -> float:
        """The larger bound over the seconds."""
        return max(self.by_products, self.by_reading) / self.seconds

    @property
    def binding(self) -> str:
        """The resource that limits the run."""
        calls = max(1, self.steps // self.kernel.together)
        if self.share < BOUND and max(self.by_products, self.by_reading) < SMALL * calls:
            return "small steps"
        name = "products" if self.by_products > self.by_reading else "reading"
        if name == "products" and self.kernel.columns:
            return f"products with {self.kernel.columns} columns"
        return name if self.kernel.flops or name == "reading" else f"{name}, nominal"


@cache
def machine(side: int = 1500, count: int = 2**25) -> Machine:
    """Return what this one does; the best of some tries."""
    A, out, x = np.ones((side, side)), np.empty((side, side)), np.ones(count)
    with limited(1):
        product = min(spent(lambda: np.matmul(A, A, out=out))[0] for _ in range(5))
        reading = min(spent(lambda: float(x @ x))[0] for _ in range(5))
    return Machine(2 * side**3 / product, 8 * count / reading)


@cache
def narrow(width: int, columns: int, rows: int = 128, calls: int = 200) -> float:
    """Return the flops a second of products with few columns, of rows that are in a cache."""
    A, V = np.ones((rows, width)), np.ones((width, columns))

    def both() -> None:
        for _ in range(calls):
            A.T @ (A @ V)

    with limited(1):
        return 4 * rows * width * columns * calls / min(spent(both)[0] for _ in range(10))


def measured(kernel: Kernel, host: Machine, turns: int = TURNS) -> Measured:
    """Run a kernel; the minimum of some runs counts."""
    instance = kernel.made(*kernel.size)
    budget = ob.Budget(steps=kernel.steps) if kernel.steps else None
    token, ends = CLOCK.set(process_time_ns), []
    try:
        with limited(1):
            for _ in range(turns):
                outcome = ob.solve(kernel.solver, instance, budget, **kernel.settings)
                ends.append(outcome.trace[-1])
    finally:
        CLOCK.reset(token)
    seconds, work = min(end.seconds for end in ends), ends[0].work
    passes = ends[0].metrics.get("passes", float(work.steps))
    flops = kernel.flops(kernel.size, work.steps) if kernel.flops else work.flops
    read = 8 * kernel.reads(kernel.size, passes)
    few = kernel.columns
    rate = narrow(kernel.size[1], few) if few else host.products
    return Measured(kernel, seconds, work.steps, flops / rate, read / host.reading)


def table(pattern: str = "*", turns: str = str(TURNS)) -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    host = machine()
    yield f"Products {host.products / 1e9:.0f} GFLOP/s, reading {host.reading / 1e9:.0f} GB/s."
    yield ""
    yield "| solver | shape | clock, s | bound by | share |"
    yield "|---|---|---|---|---|"
    for kernel in KERNELS:
        if fnmatch(kernel.solver, pattern):
            found = measured(kernel, host, int(turns))
            shape = " x ".join(f"{n:,}" for n in kernel.size)
            shape += ", a stream" if kernel.made is stream else ""
            page = f"[{kernel.solver}](../methods/{kernel.solver}.md)"
            end = f"{found.seconds:.3g} | {found.binding} | {found.share:.2f} |"
            yield f"| {page} | {shape} | {end}"


def rows_of(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.arange(1.0, d + 1) ** -0.5


def stream(n: int, d: int, k: int) -> Any:
    return ob.stochastic_pca(rows_of(n, d), k)


def matrix(n: int, d: int, k: int) -> Any:
    return ob.pca(rows_of(n, d), k)


def features(d: int, n: int, m: int) -> Any:
    return ob.sparse_pca(rows_of(n, d), m, center=False)


def square_features(d: int, n: int) -> Any:
    return features(d, n, n)


def moment(p: int, n: int, r: int, order: int) -> Any:
    X = np.random.default_rng(0).exponential(size=(n, p)) - 1
    return ob.symmetric_tucker(X.T, order=order, rank=r)


def built(name: str, *names: str) -> Callable[..., Any]:
    """Return a maker of a problem with these parameters."""

    def make(*size: int) -> Any:
        recipe = ob.catalogue().problem(name, dict(zip(names, size, strict=True)))
        return instance_of(recipe, 0)

    return make


def once(size: tuple[int, ...], passes: float) -> float:
    """Return the numbers of a matrix that is read once."""
    return float(size[0] * size[1])


def each_pass(size: tuple[int, ...], passes: float) -> float:
    """Return the numbers of a matrix that is read in every pass."""
    return passes * size[0] * size[1]


def nothing(size: tuple[int, ...], passes: float) -> float:
    """Return none: all is in caches."""
    return 0.0


def gram(size: tuple[int, ...], steps: int) -> float:
    """Return half of X'X for (n, d), d the smaller."""
    n, d = max(size[:2]), min(size[:2])
    return float(n * d * d)


def oja_flops(size: tuple[int, ...], steps: int) -> float:
    """Return what blocks of 16 samples take."""
    n, d, k = size
    return n * (2 * (k + 8) * d + 2 * k * (k + 16) * d / 16)


def krylov_flops(size: tuple[int, ...], steps: int) -> float:
    """Return the products with blocks of k + 5 columns."""
    n, d, k = size
    return 4 * steps * n * d * (k + 5)


def randomized_flops(size: tuple[int, ...], steps: int) -> float:
    """Return five round trips with k + 10 columns."""
    n, d, k = size
    return 20 * n * d * (k + 10)


def hoevd_flops(size: tuple[int, ...], steps: int) -> float:
    """Return the Gram matrix of samples, half of it, its product with them, and the last half."""
    p, n = size[:2]
    return 3.0 * p * p * n + p * n * n


STREAM, TALL = (20_000, 300, 10), (200_000, 300, 10)
MOMENT = (4000, 200, 5, 4)

KERNELS = (
    Kernel("gram-pca", matrix, TALL, each_pass, gram),
    Kernel("gram-pca", matrix, (1_000_000, 100, 10), each_pass, gram),
    Kernel("gram-pca", matrix, (500, 20_000, 10), each_pass, gram),
    Kernel("block-krylov", matrix, TALL, each_pass, krylov_flops, columns=15),
    Kernel("randomized-pca", matrix, TALL, each_pass, randomized_flops, columns=20),
    Kernel("incremental-pca", matrix, (20_000, 300, 10), once),
    Kernel("batch-pca", stream, TALL, once, gram, together=1000),
    Kernel("block-krylov", stream, TALL, once, together=1000),
    Kernel("subspace-iteration", stream, TALL, once, together=1000),
    Kernel("msg", stream, (2000, 100, 10), once),
    Kernel("capped-msg", stream, STREAM, once),
    Kernel("meg", stream, (2000, 100, 10), once),
    Kernel("warmuth-kuzmin", stream, (2000, 100, 10), once),
    Kernel("oja", stream, TALL, once, oja_flops, together=16),
    Kernel("ada-oja", stream, TALL, once),
    Kernel("history-pca", stream, TALL, once),
    Kernel("ccipca", stream, STREAM, once),
    Kernel("grassmannian-sgd", stream, STREAM, once),
    Kernel("incremental-pca", stream, STREAM, once),
    Kernel("frequent-directions", stream, STREAM, once, together=60),
    Kernel("gpower", features, (2000, 1000, 5), each_pass, steps=50, settings={"block": True}),
    Kernel("givens-sparse-pca", square_features, (1000, 50), nothing, steps=2000),
    Kernel("givens-streaming-sparse-pca", features, (500, 2000, 5), nothing),
    Kernel("givens-tensor", built("odeco", "d"), (60,), nothing, steps=5000),
    Kernel("tensor-power", built("odeco", "d"), (30,), nothing, steps=5000),
    Kernel("givens", built("brockett", "n"), (200,), nothing, steps=5000),
    Kernel("hoevd", moment, MOMENT, nothing, hoevd_flops),
    Kernel("pgd", moment, MOMENT, nothing, steps=30),
    Kernel("spgd", moment, (32_000, 150, 4, 4), nothing),
    Kernel("shoevd", moment, (32_000, 150, 4, 4), nothing),
    Kernel("khatri-rao-sketch", moment, (32_000, 150, 4, 4), once),
)


if __name__ == "__main__":
    for line in table(*sys.argv[1:]):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
