"""Growth of what a run costs with each size of its family, and of the stages after all runs.

``python benchmarks/sweep.py [--seconds 10] [--only pca] [--out FILE]`` doubles one size at a time
until a run, or a part beside it, takes that time. It prints a table a family: the seconds of each
part at the largest size, the exponent of a power of the size, and the largest jump. A part is
flagged if it grows faster than the run by `FASTER` in the exponent at times above `SLOW`, or if it
jumps by more than `JUMP`. All seconds are CPU seconds of one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time, process_time_ns
from typing import Any, TypeAlias, TypeVar
from warnings import catch_warnings, simplefilter

import large
import numpy as np
import scipy.sparse as sp

import orthobench as ob
from orthobench.decide.comparisons import compare
from orthobench.harness.cell import Cell
from orthobench.harness.execution import CLOCK, ready_oracle
from orthobench.harness.execution import _warm as warmed
from orthobench.harness.identity import Streams
from orthobench.harness.judging import judged
from orthobench.harness.run import record
from orthobench.harness.stopping import Budget, ending
from orthobench.harness.trace import Recording
from orthobench.registry.plugins import catalogue, solver_for
from orthobench.report.page import write_page
from orthobench.results.results import Results
from orthobench.results.store import Store
from orthobench.tools.environment import limited
from orthobench.tools.geometry import random_point
from orthobench.tools.machine import Peak
from orthobench.tools.places import DEFAULT

T = TypeVar("T")
Parts: TypeAlias = dict[str, float]
"""Seconds of each part of a run, and `NO_SECONDS`."""

NO_SECONDS = ("data", "memory", "memory of the run", "bytes a cell")
"""Bytes of the data, peak memory relative to them (beside the run and of the run), and bytes of the
store over its cells."""

Made: TypeAlias = tuple[int, Callable[[], Any]]
"""The bytes of some data, and a function that makes an instance of them."""

FASTER = 0.2
"""Allowed excess of an exponent over that of the run."""

SLOW = 0.1
"""Minimum seconds of a part that is flagged."""

JUMP = 3.0
"""Allowed ratio of neighbours over the part's median ratio, or the run's ratio there."""

MEMORY = 1.3
"""Allowed peak memory of all parts but the run, relative to the data.

The caller's own array does not count, nor what a run keeps: solutions can be as large as the data.
"""

FLOOR = 0.02
"""Minimum time in a jump, in seconds: shorter times count as that long."""

BYTES = 2**30
"""Maximum bytes of the data."""

LEAST_BYTES = 2**25
"""Minimum bytes of data for which memory is reported."""


def rows(n: int, d: int, kind: str = "dense") -> Any:
    """Return samples (n, d) with a decaying spectrum: dense, float32, or about 1 % nonzeros."""
    rng = np.random.default_rng(0)
    if kind == "sparse":
        X = sp.random(n, d, max(0.01, min(0.5, 5 / d)), "csr", np.float64, rng)
        return X @ sp.diags(1 / np.sqrt(1 + np.arange(d)))
    X = rng.standard_normal((n, d), np.float32) / np.sqrt(1 + np.arange(d, dtype=np.float32))
    return X if kind == "float32" else X.astype(float)


def size_of(X: Any) -> int:
    """Return the bytes of an array or a sparse matrix."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sp.issparse(X) else X.nbytes


def of_rows(maker: Callable[..., Any], samples: int, columns: int, rank: int, kind: str) -> Made:
    """Return the making of an instance whose data are samples."""
    X = rows(samples, columns, kind)
    return size_of(X), partial(maker, X, rank)


def moment(X: Any, rank: int) -> Any:
    return ob.symmetric_tucker(X, order=4, rank=rank)


def pairs(samples: int, columns: int, rank: int, kind: str) -> Made:
    X, Y = rows(samples, columns, kind), rows(samples, columns, kind)[::-1]
    Y = Y + X if kind != "sparse" else (Y + X).tocsr()
    return size_of(X) + size_of(Y), partial(ob.cca, X, Y, rank)


def pencil(columns: int, rank: int, kind: str) -> Made:
    A, B = (Z.T @ Z / len(Z) for Z in (rows(2 * columns, columns), rows(3 * columns, columns)))
    return 2 * A.nbytes, partial(ob.generalized_eigenvectors, A, B, rank)


def tensor(columns: int, rank: int, kind: str) -> Made:
    U = random_point(columns, rank, np.random.default_rng(0))
    T = np.einsum("ai,bi,ci->abc", U, U, U, optimize=True)
    return T.nbytes, partial(ob.orthogonal_tensor, T, factors=U)


def polar(samples: int, columns: int, kind: str) -> Made:
    A = rows(samples, columns, kind)
    return A.nbytes, partial(ob.polar, A)


def procrustes(columns: int, rank: int, kind: str) -> Made:
    A, B = rows(2 * columns, columns), rows(2 * columns, rank)
    return A.nbytes, lambda: ob.stiefel(
        lambda U: float(np.linalg.norm(A @ U - B) ** 2), n=columns, p=rank,
        gradient=lambda U: 2 * A.T @ (A @ U - B),
    )  # fmt: skip


def brockett(columns: int, kind: str) -> Made:
    A = np.diag(np.arange(1.0, columns + 1))

    def cost(U: Any) -> float:
        return -float(np.sum((U * (A @ U))[:, 0]))

    return A.nbytes, lambda: ob.orthogonal_group(cost, n=columns)


def gradients(columns: int, kind: str) -> Made:
    problem = catalogue().problems["rotating-gradients"].item(n=columns, m=columns)
    data = 8 * problem.steps * columns**2
    return data, partial(problem.build, np.random.default_rng(0))


@dataclass(frozen=True)
class Family:
    """The sizes of a family: `sizes` are the first ones, and each of them is doubled in turn.

    `solvers` are their names with the steps of a run, 0 for their own end.
    """

    made: Callable[..., Made]
    solvers: Mapping[str, int]
    sizes: Mapping[str, int]
    kinds: Sequence[str] = ("dense",)


TALL = {"samples": 2000, "columns": 100, "rank": 4}
FAMILIES: dict[str, Family] = {
    "pca": Family(partial(of_rows, ob.pca), {"gram-pca": 0, "randomized-pca": 0}, TALL,
                  ("dense", "float32")),
    "pca of sparse rows": Family(partial(of_rows, ob.pca), {"block-krylov": 0},
                          {"samples": 4000, "columns": 500, "rank": 4}, ("sparse",)),
    "stochastic PCA": Family(partial(of_rows, ob.stochastic_pca), {"batch-pca": 0, "oja": 0}, TALL,
                             ("dense", "float32", "sparse")),
    "sparse PCA": Family(partial(of_rows, ob.sparse_pca), {"gpower": 50}, TALL,
                         ("dense", "float32")),
    "symmetric Tucker": Family(partial(of_rows, moment), {"spgd": 200, "pgd": 10},
                               {"samples": 2000, "columns": 50, "rank": 2}, ("dense", "float32")),
    "canonical correlation": Family(pairs, {"cca-exact": 0},
                                    {"samples": 2000, "columns": 40, "rank": 2},
                                    ("dense", "float32")),
    "canonical correlation of sparse pairs": Family(pairs, {"cca-block-krylov": 30},
                                            {"samples": 4000, "columns": 200, "rank": 2},
                                            ("sparse",)),
    "generalized eigenvectors": Family(pencil, {"generalized-exact": 0},
                                       {"columns": 50, "rank": 4}),
    "orthogonal tensor": Family(tensor, {"tensor-power": 0}, {"columns": 32, "rank": 4}),
    "polar factor": Family(polar, {"polar-eigh": 0, "scipy-polar": 0},
                           {"samples": 200, "columns": 50}, ("dense", "float32")),
    "Stiefel manifold": Family(procrustes, {"landing": 50}, {"columns": 100, "rank": 4}),
    "orthogonal group": Family(brockett, {"givens": 50}, {"columns": 25}),
    "eigenbasis stream": Family(gradients, {"basis-qr": 100}, {"columns": 16}),
}  # fmt: skip
TIGHT = {"samples": 40, "columns": 8, "rank": 2}
STORES = {"problems": 10, "solvers": 10, "seeds": 5, "checkpoints": 30}
"""First numbers of what a store holds."""


def timed(call: Callable[[], T]) -> tuple[float, T]:
    begin = process_time()
    result = call()
    return process_time() - begin, result


def parts_of_run(family: Family, name: str, steps: int, sizes: Mapping[str, int], kind: str,
                 folder: Path) -> Parts:  # fmt: skip
    """Return the seconds of each part of one run, and its memory relative to the data."""
    data, make = family.made(**sizes, kind=kind)
    streams, recording, found = Streams.of("sweep", name, 0), Recording(), Parts()
    peak, peak_of_run = Peak(DEFAULT), Peak(DEFAULT)
    warmed.clear()  # each size is that of a fresh process
    with peak.measuring():
        found["build"], instance = timed(make)
        solver = solver_for(name, {}, type(instance.oracle))
        budget = ending(solver, Budget(steps=steps) if steps else Budget())
        found["warm-up"], (oracle, _) = timed(
            lambda: ready_oracle(instance.oracle, solver, streams)
        )
    with peak_of_run.measuring():
        found["run"], (stop, error) = timed(
            lambda: record(oracle, solver, budget, streams, recording.add)
        )
    if error:
        raise error
    with peak.measuring():
        found["judge"], outcome = timed(lambda: judged(instance, recording, stop))
    suite = large.suite(1, 1, 1)
    cell = Cell(suite.problems[0].problem, solver, 0, budget)
    with Store(folder / f"{len(list(folder.iterdir()))}.sqlite", write=True) as store:
        session = store.begin(suite, [cell], "sweep", {})
        found["store"], _ = timed(lambda: store.add(session, [(cell, outcome.stored)]))
    found["data"] = data
    if data >= LEAST_BYTES:
        found["memory"] = peak.value / data
        found["memory of the run"] = peak_of_run.value / data
    return found


def parts_of_store(numbers: Mapping[str, int], folder: Path) -> Parts:
    """Return the seconds of each stage of a store; `run` is that of one that does nothing."""
    folder = Path(tempfile.mkdtemp(dir=folder))
    path, found = folder / "results.sqlite", Parts()
    large.POINTS = numbers["checkpoints"]
    suite = large.suite(numbers["problems"], numbers["solvers"], numbers["seeds"])
    found["store"], cells = timed(lambda: large.fill(path, suite))
    found["read"], results = timed(lambda: Results.read(path))
    found["choose"], entries = timed(lambda: results.entries)
    found["decision"], _ = timed(lambda: compare(entries))
    found["report"], _ = timed(lambda: write_page(results, folder / "report"))
    found["bytes a cell"] = path.stat().st_size / cells
    return found


def doubled(
    measure: Callable[[Mapping[str, int]], Parts], sizes: Mapping[str, int], axis: str,
    seconds: float, most: int,
) -> Iterator[tuple[int, Parts]]:  # fmt: skip
    """Yield a size and its parts, doubled until a part takes `seconds`."""
    size = sizes[axis]
    for _ in range(most):
        found = measure({**sizes, axis: size})
        yield size, found
        spent = max(value for name, value in found.items() if name not in NO_SECONDS)
        if spent > seconds or found.get("data", 0) > BYTES / 2:
            return
        size *= 2
        if axis == "rank" and 2 * size > min(n for name, n in sizes.items() if name != axis):
            return


def exponent(sizes: Sequence[int], spent: Sequence[float]) -> float:
    """Return the power of the size in the last four times above a millisecond; NaN without two."""
    points = [(s, t) for s, t in zip(sizes, spent, strict=True) if t > 1e-3][-4:]
    if len(points) < 2:
        return float("nan")
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0])


def jump(sizes: Sequence[int], spent: Sequence[float], grown: Sequence[float]) -> tuple[float, int]:
    """Return the largest ratio of neighbours over the growth expected, and the size after it."""
    ratios = [b / a for a, b in pairwise(np.maximum(spent, FLOOR))]
    relative = [ratio / expected for ratio, expected in zip(ratios, grown, strict=True)]
    at = int(np.argmax(relative)) if relative else 0
    return (relative[at], sizes[at + 1]) if relative else (1.0, sizes[0])


@dataclass(frozen=True)
class Row:
    """The growth of all parts with one size; memory and `cell` are those at the largest."""

    family: str
    label: str
    sizes: list[int]
    seconds: dict[str, list[float]]
    exponents: dict[str, float]
    jumps: dict[str, tuple[float, int]]
    memory: float
    memory_of_run: float
    cell: float

    @property
    def flags(self) -> list[str]:
        """Parts that miss a target."""
        least = max(1.0, self.exponents.get("run", 1.0))
        found = [
            f"{name} grows faster than the run"
            for name, spent in self.seconds.items()
            if spent[-1] > SLOW and self.exponents[name] > least + FASTER
        ]
        jumps = [(name, *told) for name, told in self.jumps.items() if told[0] > JUMP]
        found += [f"{name} jumps by {ratio:.1f} at {at:,}" for name, ratio, at in jumps]
        return found + [f"memory {self.memory:.2f} times the data"] * (self.memory > MEMORY)

    @property
    def text(self) -> str:
        """Seconds at the largest size with exponents, the largest jump, memory, and flags."""
        name = max(self.jumps, key=lambda part: self.jumps[part][0])
        ratio, at = self.jumps[name]
        parts = "".join(
            f"{spent[-1]:.2g} ^{self.exponents[part]:.2f}".replace("^nan", "").rjust(16)
            for part, spent in self.seconds.items()
        )
        span = f"{self.sizes[0]:,} to {self.sizes[-1]:,}"
        jumped = f"{ratio:.1f} {name} at {at:,}" if ratio > 1 else "-"
        memory = f"{self.memory:.2f} {self.memory_of_run:.2f}" if self.memory else "-"
        line = f"{self.label:<44}{span:>20}{parts}{jumped:>26}{memory:>13}\n"
        return line + "".join(f"    ! {flag}\n" for flag in self.flags)

    @property
    def header(self) -> str:
        """The head of its family's table."""
        parts = "".join(f"{part:>16}" for part in self.seconds)
        return f"\n{self.family:<44}{'sizes':>20}{parts}{'largest jump':>26}{'memory, run':>13}\n"


def row_of(family: str, label: str, points: Sequence[tuple[int, Parts]]) -> Row:
    """Return the growth of all parts, which are expected to grow at most as the run."""
    sizes, found = [size for size, _ in points], points[-1][1]
    columns = {n: [parts[n] for _, parts in points] for n in found if n not in NO_SECONDS}
    powers = {name: exponent(sizes, spent) for name, spent in columns.items()}
    steady = 2 ** max(1.0, powers.get("run", 1.0))
    of_run = [b / a for a, b in pairwise(columns.get("run", sizes))]
    jumps = {
        name: jump(sizes, spent, [steady if name == "run" else max(steady, r) for r in of_run])
        for name, spent in columns.items()
    }
    numbers = (found.get(name, 0.0) for name in NO_SECONDS[1:])
    return Row(family, label, sizes, columns, powers, jumps, *numbers)


def sweep(seconds: float, most: int, small: bool, only: str, folder: Path) -> Iterator[Row]:
    """Yield the rows of all families, and of stores, whose name has `only`."""
    for name, family in FAMILIES.items():
        sizes = {axis: TIGHT[axis] for axis in family.sizes} if small else dict(family.sizes)
        ways = [(k, s) for k in family.kinds for s in family.solvers.items() if only in name]
        for kind, (solver, steps) in ways[:1] if small else ways:
            measure = partial(parts_of_run, family, solver, steps, kind=kind, folder=folder)
            measure({axis: TIGHT[axis] for axis in sizes})  # compiles, and loads libraries
            for axis in [*sizes][:1] if small else sizes:
                points = list(doubled(measure, sizes, axis, seconds, most))
                yield row_of(name, f"{kind}, {solver}, {axis}", points)
    for axis in STORES if only in "stores" else ():
        numbers = dict.fromkeys(STORES, 2) if small else STORES
        points = list(doubled(partial(parts_of_store, folder=folder), numbers, axis, seconds, most))
        yield row_of("stores", axis, points)


def main(words: Sequence[str]) -> int:
    """Sweep, print, and write the rows as JSON; return 1 if something is flagged."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--most", type=int, default=12, help="maximum number of sizes")
    parser.add_argument("--only", default="", help="a part of the name of a family, or stores")
    parser.add_argument("--smoke", action="store_true", help="two tiny sizes")
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args(words)
    most = 2 if asked.smoke else asked.most
    found, token = list[Row](), CLOCK.set(process_time_ns)
    with tempfile.TemporaryDirectory() as folder, limited(1), catch_warnings():
        simplefilter("ignore")  # about data that are not centred
        for row in sweep(asked.seconds, most, asked.smoke, asked.only, Path(folder)):
            is_first = not found or found[-1].family != row.family
            sys.stdout.write(row.header * is_first + row.text)
            sys.stdout.flush()
            found.append(row)
            if asked.out:
                rows_found = [{**asdict(row), "flags": row.flags} for row in found]
                asked.out.write_text(json.dumps(rows_found, indent=1), encoding="utf-8")
    CLOCK.reset(token)
    return int(any(row.flags for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
