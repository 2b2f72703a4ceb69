"""Real data: digits, and counts of genes in cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from orthobench_kit.data import digits, mnist

from orthobench.contract import Instance, UsageError, parameter
from orthobench.tools.datasets import DataFile, fetch
from orthobench_pca.maker import pca
from orthobench_pca.oracle import PCAOracle
from orthobench_pca.problems.matrices import (
    PrincipalComponents,
    components_parameter,
    log_normalized,
)

CELLS = DataFile(
    "pbmc-facs-counts.npz",
    "23c1b157f2f4f669494c295176653137a0412e44f1bc72ae09bd3eac71dc689c",
    (),
    "pbmc_facs of the R package fastTopics (Carbonetto and Stephens; data of Zheng et al. 2017, "
    "CC BY 4.0), written with scipy.sparse.save_npz",
)


def _digits() -> Any:
    return digits.pixels().astype(np.float64)


def _images() -> Any:
    return mnist.read(mnist.TEST_IMAGES).reshape(-1, 784).astype(np.float64)


def _cells() -> Any:
    from scipy.sparse import load_npz

    return log_normalized(load_npz(fetch(CELLS)))


DATA: Mapping[str, tuple[Callable[[], Any], str]] = {
    "digits": (_digits, digits.CHECKSUM),
    "mnist": (_images, mnist.TEST_IMAGES.sha256),
    "cells": (_cells, CELLS.sha256),
}
"""The function that reads each data set, and the checksum of its contents."""


@dataclass(frozen=True)
class RealPCA(PrincipalComponents):
    """Real data.

    - ``digits``: the 1,797 digits of scikit-learn, 64 pixels.

    - ``mnist``: the 10,000 test images of MNIST, 784 pixels; a small download.

    - ``cells``: counts of 16,791 genes in 3,774 purified blood cells (Zheng et al. 2017), 4.3 %
      nonzero, as log(1 + x) of rows scaled to equal sums; a file of the data folder.
    """

    name = "real-pca"
    source = "scikit-learn, MNIST (LeCun et al. 1998), blood cells (Zheng et al. 2017)"

    data: str = parameter("digits", help="the data set", choices=tuple(DATA))
    k: int = components_parameter(10)

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        """Return the instance; nothing is drawn.

        Raises
        ------
        DataError
            If a file is missing and cannot be downloaded, or is not the published one.
        """
        del rng
        X = DATA[self.data][0]()
        if self.k > min(X.shape):
            raise UsageError(f"k = {self.k} components of {X.shape[0]} rows, {X.shape[1]} columns")
        return pca(X, self.k, self.center, self.scale)

    def checksum(self) -> str:
        return sha256(DATA[self.data][1].encode()).hexdigest()
