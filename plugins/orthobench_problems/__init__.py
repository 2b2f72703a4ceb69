"""Problems: synthetic ones, real data sets and your own files, and the suites that use them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orthobench.contract import AnyProblem, hookimpl
from orthobench_problems import (
    orthogonal_group,
    orthogonal_tensor,
    sparse_pca,
    stiefel,
    stochastic_pca,
    symmetric_tucker,
)

FAMILIES = (
    stochastic_pca,
    sparse_pca,
    orthogonal_tensor,
    symmetric_tucker,
    orthogonal_group,
    stiefel,
)


@hookimpl
def orthobench_problems() -> Iterable[type[AnyProblem]]:
    """Return the problem classes."""
    return [problem for family in FAMILIES for problem in family.PROBLEMS]


@hookimpl
def orthobench_suites() -> Iterable[Path]:
    """Return the paths of the suites."""
    return sorted(Path(__file__).parent.glob("suites/*.toml"))
