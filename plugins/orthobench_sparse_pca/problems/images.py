"""Handwritten digits, explained by few pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from orthobench_kit.data import digits

from orthobench.contract import Instance, parameter
from orthobench_sparse_pca import SparsePCAOracle
from orthobench_sparse_pca.problems.parts import (
    SCALING_HELP,
    SCALINGS,
    SplitProblem,
    check_components,
    split_parts,
)

IMAGES, VARYING = 1797, 61
"""Number of images, and of pixels that vary."""


@dataclass(frozen=True)
class DigitsSparse(SplitProblem):
    """Sparse components of scikit-learn's 1,797 digits of 8 x 8 pixels; needs no download.

    Split at random into a training and a test part, and scaled by the training part. Pixels that
    are constant there are dropped.
    """

    name = "digits-sparse"
    source = "handwritten digits of scikit-learn (Alpaydin and Kaynak 1998)"

    m: int = parameter(5, help="components sought", low=1)
    scaling: str = parameter("centred", help=SCALING_HELP, choices=SCALINGS)
    test: int = parameter(797, help="images held out for the judge; 0: none", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_components(self.m, VARYING, self.samples)

    @property
    def samples(self) -> int:
        return IMAGES - self.test

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        parts = split_parts(digits.pixels(), self.test, self.scaling, rng)
        return self.instance(parts, rng)

    def checksum(self) -> str:
        return digits.CHECKSUM
