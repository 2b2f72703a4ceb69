"""Made-up rows of an atlas."""

import math

import numpy as np
import pytest

from orthobench.atlas.table import AtlasRow


def made_up(problems=3, solvers=4, seeds=5, family="PCA"):
    """Return the rows of solvers that come to an end at their own pace; the first is the best."""
    rng = np.random.default_rng(7)
    return [
        _row(rng, family, f"p{p} k={2 + p}", s, seed)
        for p in range(problems)
        for s in range(solvers)
        for seed in range(seeds)
    ]


def _row(rng, family, problem, s, seed):
    steps = 1e4 * (s + 1) * rng.integers(1, 3)
    value = (s + 1) * 1e-3 * math.exp(0.1 * rng.standard_normal())
    return AtlasRow(
        suite=f"atlas-{family}", family=family, problem=problem, name=problem.split()[0],
        parameters='{"k": 2}', rows=1000, d=50, k=4, decay=0.5, noise=0.1, sparsity=0.0,
        solver=f"solver-{s}", solver_name=f"solver-{s}", solver_parameters='{"step": 0.5}',
        seed=seed, metric="gap", start=1.0, value=value, lowest=1e-3,
        seconds=1e-5 * (1 + 0.1 * rng.standard_normal()) * steps, samples=steps, flops=600 * steps,
        ending="done", machine="a processor",
    )  # fmt: skip


@pytest.fixture(scope="session")
def rows():
    """Return a maker of rows: ``rows(problems=3, solvers=4, seeds=5, family="PCA")``."""
    return made_up
