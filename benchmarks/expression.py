"""Gene expression data for the benchmarks: 12,600 genes in 102 samples, real or made up."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from smoke import usually

from orthobench.tools.arrays import Array
from orthobench.tools.datasets import data_folder

FEATURES, SAMPLES = usually((12_600, 102), smoke=(300, 12))


@cache
def prostate() -> Array:
    """The data of Singh et al. (2002), (12600, 102); skips if they or rdata are missing."""
    path = data_folder() / "singh.RData"
    if not path.is_file():
        pytest.skip("needs singh.RData in $ORTHOBENCH_DATA")
    rdata = pytest.importorskip("rdata")
    frame = rdata.read_rda(path, default_encoding="ascii")["singh"]["x"]
    return np.array(frame, dtype=np.float64).T


@cache
def few_factors() -> Array:
    """A few strong factors, log-normal scales and heavy-tailed noise."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((FEATURES, 8)) @ rng.standard_normal((8, SAMPLES))
    noise = rng.standard_t(4, (FEATURES, SAMPLES))
    scales = np.exp(1.5 * rng.standard_normal((FEATURES, 1)))
    return 100 * scales * (0.3 * factors + noise)


@cache
def many_factors() -> Array:
    """Twenty factors of falling weight with heavy-tailed loadings, and noise."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((20, SAMPLES))
    factors = rng.laplace(size=(FEATURES, 20)) / np.arange(1, 21)
    return factors @ scores + 0.5 * rng.standard_normal((FEATURES, SAMPLES))


def centred(A: Array) -> Array:
    return np.asfortranarray(A - A.mean(axis=1, keepdims=True))


def standardised(A: Array) -> Array:
    A = centred(A)
    return np.asfortranarray(A / A.std(axis=1, keepdims=True))
