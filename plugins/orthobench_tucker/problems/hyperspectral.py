"""Anomaly detection in a hyperspectral image."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data import data_files

from orthobench.contract import Array, DataError, Instance, ParameterError, Solution, parameter
from orthobench.contract.exhibits import Exhibit, Image
from orthobench.tools.datasets import DataFile
from orthobench_tucker import (
    ComponentSolution,
    Judge,
    SampleMoment,
    SymmetricTucker,
    TuckerOracle,
    symmetric_tucker,
)
from orthobench_tucker.problems.detection import (
    anomaly_scores,
    area_under_roc,
    random_classifier,
    roc,
    sparsest,
)
from orthobench_tucker.problems.scenes import Scene, read_scene, whitened_pixels

_COPY = "https://raw.githubusercontent.com/HSIYJND/HDnAL/bca675d31ef768fd40f2b3e15f093614634f8db5/"

GULFPORT = DataFile(
    "abu-airport-4.mat",
    "c10cb987f0a75ad5834da2be35e2cfe740660fd9094521dd6d047de535a2a72b",
    (f"{_COPY}abu-airport-4.mat",),
    "the Airport-Beach-Urban data sets of Kang et al. 2017, IEEE Transactions on Geoscience and "
    "Remote Sensing 55, http://xudongkang.weebly.com/data-sets.html (for research; no licence is "
    "stated; the images are NASA's, by AVIRIS)",
)

BANDS = 191
"""Number of spectral bands of the published scene."""

PIXELS = ("column-major", "random", "row-major")
"""Orders of the pixels in a stream."""


@dataclass(frozen=True)
class HyperspectralAnomaly(SymmetricTucker):
    """Aircraft at Gulfport in 191 spectral bands: 60 anomalous pixels of 10,000 (Kang et al. 2017).

    Section 5.1 of Jin, Kileel, Kolda and Ward (2022): the third moment of the whitened pixels is
    decomposed, and the anomaly score of a pixel x is the length of its whitened Q'x. The primary
    metric, ``auc_gap``, is one minus the area under the ROC curve, on the pixels that solvers see.
    Parameters are tuned on the relative error, since tuning may not use the anomalies.

    The pixels are whitened by all principal components with an eigenvalue above n eps of the
    largest. The paper takes the r leading components before whitening, and reaches an area of
    0.8893, as printed; exact methods reach 0.953 to 0.993.

    Streams go `passes` times through the pixels: column by column of the image, as in MATLAB;
    random; or row by row. The paper's 500 batches of 100 for shoevd, and 1500 more for spgd, take
    20 passes. By columns the median areas agree with the paper's 0.9900 and 0.9947. By rows both
    fail, since the aircraft are in few batches.

    `path` names a scene of your own, a MAT-file with ``data`` (height, width, bands) and ``map``
    (height, width).
    """

    name: ClassVar[str] = "hsi-anomaly"
    source: ClassVar[str] = "Gulfport (Kang et al. 2017)"
    primary: ClassVar[str] = "auc_gap"
    tuned_by: ClassVar[str] = "relative_error"

    order: int = parameter(3, help="order d of the moment", low=2)
    rank: int = parameter(4, help="columns of the basis", low=1)
    pixels: str = parameter(
        "column-major", help="in which order streams see pixels", choices=PIXELS
    )
    passes: int = parameter(20, help="how often streams go through the pixels", low=1)
    path: str | None = parameter(None, help="your own scene instead: a MAT-file with data and map")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.path is None and self.rank > BANDS:
            raise ParameterError("rank", f"rank must be <= {BANDS}, the bands, not {self.rank}")

    @property
    def tensor_shape(self) -> tuple[int, ...] | None:
        return (BANDS,) * self.order if self.path is None else None

    def build(self, rng: np.random.Generator) -> Instance[TuckerOracle]:
        """Return the instance; `rng` draws the order of the pixels, if it is random.

        Raises
        ------
        DataError
            If the file is missing, cannot be downloaded, or has no such scene.
        UsageError
            If the rank is larger than the number of linearly independent bands.
        """
        scene, moment = _whitened_scene(*data_files.located(self.path, GULFPORT), self.order)
        order = pixel_order(self.pixels, scene.shape, rng)
        samples = np.ascontiguousarray(moment.X[order])
        instance = symmetric_tucker(samples, order=self.order, rank=self.rank, passes=self.passes)
        judge = SceneJudge(scene, moment, self.rank)
        return replace(instance, measure=judge.measure, exhibits=judge.exhibits)

    def checksum(self) -> str:
        return data_files.checksum(self.path, GULFPORT)


@dataclass(frozen=True, eq=False)
class SceneJudge:
    """The judge of a scene: measures detection, and the family's metrics.

    `moment` is that of the whitened pixels, row by row of the image; exhibited bases have `rank`
    columns.
    """

    scene: Scene
    moment: SampleMoment
    rank: int

    def measure(self, solution: Solution) -> dict[str, float]:
        """Return ``auc_gap`` = 1 - ``roc_auc``, and the family's metrics."""
        area = area_under_roc(*self._scored(solution.point))
        family = Judge(self.moment, self.moment)
        return {"auc_gap": 1 - area, "roc_auc": area, **family(solution)}

    def exhibits(self, solution: Solution) -> dict[str, Exhibit]:
        """Return the images of Figure 7 and the curves of Figure 8, of components by their span."""
        Q = solution.point
        if isinstance(solution, ComponentSolution):
            Q = np.linalg.svd(Q, full_matrices=False)[0][:, : self.rank]
        images = [z.reshape(self.scene.shape) for z in (self.moment.X @ Q).T]
        bands = {f"band {j}": Image(image, signed=True) for j, image in enumerate(images, 1)}
        sparse, curve = self._sparse_image(Q), roc(*self._scored(solution.point))
        return {**bands, "sparse detection image": sparse, "ROC": curve, **self._references}

    @cached_property
    def _references(self) -> dict[str, Exhibit]:
        components = np.eye(self.moment.X.shape[1], self.rank)  # in whitened coordinates
        return {
            "mean of the bands": Image(self.scene.data.mean(axis=2), reference=True),
            "anomalies": Image(self.scene.anomalies.astype(np.float64), reference=True),
            "sparse detection image of PCA": self._sparse_image(components, reference=True),
            "PCA of the covariance": roc(*self._scored(components), reference=True),
            "random classifier": random_classifier(),
        }

    def _scored(self, V: Array) -> tuple[Array, NDArray[np.bool_]]:
        return anomaly_scores(self.moment.X @ V), self.scene.anomalies.ravel()

    def _sparse_image(self, Q: Array, reference: bool = False) -> Image:
        Z = self.moment.X @ Q
        image = (Z @ sparsest(Z)).reshape(self.scene.shape)
        return Image(image, signed=True, reference=reference)


def pixel_order(pixels: str, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the order of the pixels of an image (height, width) in a stream."""
    numbers = np.arange(shape[0] * shape[1])
    if pixels == "random":
        return rng.permutation(numbers)
    return numbers.reshape(shape).ravel(order="F" if pixels == "column-major" else "C")


@lru_cache(maxsize=2)
def _whitened_scene(path: Path, checksum: str, order: int) -> tuple[Scene, SampleMoment]:
    del checksum
    scene = read_scene(path)
    try:
        X = whitened_pixels(scene.pixels)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    X.flags.writeable = False
    return scene, SampleMoment(X, order)
