"""The small tables of papers on sparse components."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path

import numpy as np

from orthobench.contract import Instance, UsageError, parameter
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import (
    CARDINALITY_HELP,
    Parts,
    SplitProblem,
    check_components,
    scaled,
)

SHAPES = {"mtcars": (32, 11), "pitprops": (13, 13), "wine": (178, 13)}
"""Samples and features of each table."""


@dataclass(frozen=True)
class ClassicSparse(SplitProblem):
    """Correlations of three small tables, with a given cardinality.

    - ``mtcars``: 11 measures of 32 cars (Henderson and Velleman 1981).

    - ``pitprops``: 13 measures of 180 props, of which only the correlations S were published
      (Jeffers 1967); the samples are the columns of S^½.

    - ``wine``: 13 measures of 178 wines from scikit-learn (Aeberhard and Forina 1991, UCI; CC BY
      4.0).
    """

    name = "classic-sparse"
    source = "pitprops (Jeffers 1967), mtcars (Henderson and Velleman 1981), wine (scikit-learn)"

    data: str = parameter("mtcars", help="the table", choices=tuple(SHAPES))
    m: int = parameter(3, help="components sought", low=1)
    _: KW_ONLY
    cardinality: int | None = parameter(4, help=CARDINALITY_HELP, low=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        samples, features = SHAPES[self.data]
        check_components(self.m, features, samples)
        most = features if self.each else features * self.m
        if self.cardinality is not None and self.cardinality > most:
            raise UsageError(f"cardinality must be at most {most}, not {self.cardinality}")

    @property
    def samples(self) -> int:
        return SHAPES[self.data][0]

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        return self.instance(self._parts(), rng)

    def _parts(self) -> Parts:
        if self.data == "wine":
            from sklearn.datasets import load_wine

            return scaled(load_wine().data, None, "standardized")
        file = Path(__file__).parent / "tables" / f"{self.data}.csv"
        table = np.loadtxt(file, delimiter=",", skiprows=2)
        if self.data == "mtcars":
            return scaled(table, None, "standardized")
        values, vectors = np.linalg.eigh(table)
        return scaled((vectors * np.sqrt(values)) @ vectors.T, None, "none")
