"""Problems of canonical correlation analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from orthobench_kit.data import digits

from orthobench.contract import DataError, Instance, Problem, UsageError, parameter
from orthobench.tools import datasets
from orthobench.tools.files import opened
from orthobench_cca.maker import cca
from orthobench_cca.oracle import PairsMatrices, PairsOracle

T = TypeVar("T")


class CCA(Problem[PairsMatrices]):
    """Base of the problems of this family."""

    family = "canonical correlation"
    offers: ClassVar[type[PairsMatrices]] = PairsOracle
    primary = tuned_by = "suboptimality"


@dataclass(frozen=True)
class PlantedCorrelations(CCA):
    """Gaussian pairs with known canonical correlations in the population.

    The correlations fall linearly from `top` over k of them to `top` - `gap` k; the others are
    zero. Both halves are mixed by matrices whose singular values fall from 1 to 1 / `condition`.
    """

    name = "planted-correlations"

    k: int = parameter(3, help="canonical variables sought, and planted", low=1)
    p: int = parameter(20, help="length of x", low=1)
    q: int = parameter(15, help="length of y", low=1)
    samples: int = parameter(2000, help="number of pairs", low=2)
    top: float = parameter(0.9, help="largest correlation", above=0.0, below=1.0)
    gap: float = parameter(0.1, help="how much smaller each of the next is", low=0.0, below=1.0)
    condition: float = parameter(3.0, help="condition number of the mixing", low=1.0, high=1e6)
    passes: int = parameter(5, help="how often a stream goes through the pairs", low=1)
    ridge: float = parameter(0.0, help="added to the diagonals of both covariances", low=0.0)
    test: int = parameter(0, help="fresh pairs for the judge; 0: none", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k > min(self.p, self.q):
            raise UsageError(f"k must be at most {min(self.p, self.q)}, not {self.k}")
        if self.top <= self.gap * (self.k - 1):
            raise UsageError("top must be above gap (k - 1): the last correlation is not positive")

    @property
    def correlations(self) -> tuple[float, ...]:
        """The planted correlations."""
        return tuple(self.top - self.gap * i for i in range(self.k))

    def build(self, rng: np.random.Generator) -> Instance[PairsMatrices]:
        count = self.samples + self.test
        x = rng.standard_normal((count, self.p))
        y = rng.standard_normal((count, self.q))
        rho = np.array(self.correlations)
        y[:, : self.k] = rho * x[:, : self.k] + np.sqrt(1 - rho**2) * y[:, : self.k]
        (X, X_test), (Y, Y_test) = (
            np.split(self._mixed(rows, rng), [self.samples]) for rows in (x, y)
        )
        return cca(
            X, Y, self.k, ridge=self.ridge, passes=self.passes,
            test=(X_test, Y_test) if self.test else None,
        )  # fmt: skip

    def _mixed(self, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        size = rows.shape[1]
        axes = np.linalg.qr(rng.standard_normal((size, size)))[0]
        other = np.linalg.qr(rng.standard_normal((size, size)))[0]
        return np.asarray((rows @ axes * np.geomspace(1, 1 / self.condition, size)) @ other)


@dataclass(frozen=True)
class SparsePairs(CCA):
    """Sparse counts of two kinds in the same cells, tied by k groups.

    Cells count more often in columns of their group; entries are log(1 + count). Beyond 3,000
    columns on either side the judge measures against correlations of one, their maximum.
    """

    name = "sparse-pairs"
    offers: ClassVar[type[PairsMatrices]] = PairsMatrices

    k: int = parameter(5, help="canonical variables sought, and groups less one", low=1)
    samples: int = parameter(2000, help="number of cells", low=2)
    p: int = parameter(300, help="columns of x", low=2)
    q: int = parameter(200, help="columns of y", low=2)
    density: float = parameter(0.02, help="share of entries that are not zero", above=0, below=0.5)
    strength: float = parameter(4.0, help="how much likelier a group's own columns are", low=1.0)
    ridge: float = parameter(1e-3, help="added to the diagonals of both covariances", low=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k >= min(self.p, self.q):
            raise UsageError(f"k must be below {min(self.p, self.q)}, not {self.k}")

    def build(self, rng: np.random.Generator) -> Instance[PairsMatrices]:
        groups = rng.integers(self.k + 1, size=self.samples)
        X, Y = (self.counts(groups, size, rng) for size in (self.p, self.q))
        return cca(X, Y, self.k, ridge=self.ridge)

    def counts(self, groups: NDArray[np.intp], size: int, rng: np.random.Generator) -> Any:
        """Return cells by columns, sparse, with more counts in a cell's group."""
        from scipy.sparse import csr_matrix

        most = max(1, round(self.density * size))
        own = (self.strength - 1) / (self.strength + self.k)
        columns = rng.integers(size, size=(self.samples, most))
        inside = rng.random(columns.shape) < own
        block = size // (self.k + 1)
        columns[inside] = (groups[:, None] * block + columns % block)[inside]
        rows = np.repeat(np.arange(self.samples), most)
        counts = csr_matrix(
            (np.ones(rows.size), (rows, columns.ravel())), shape=(self.samples, size)
        )
        return counts.log1p()


@dataclass(frozen=True)
class NpyCCA(CCA):
    """Your own pairs in files: two .npy files, or one .npz file with X and Y.

    They are read into memory and shuffled for each seed; the judge uses all of them.
    """

    name = "npy-cca"

    path_x: str = parameter(help="the .npy file of X, a matrix (N, p); or a .npz file with X and Y")
    path_y: str | None = parameter(None, help="the .npy file of Y, a matrix (N, q)")
    k: int = parameter(1, help="canonical variables sought", low=1)
    ridge: float = parameter(0.0, help="added to the diagonals of both covariances", low=0.0)
    passes: int = parameter(5, help="how often a stream goes through the pairs", low=1)

    def build(self, rng: np.random.Generator) -> Instance[PairsMatrices]:
        X, Y = self._pairs()
        if len(X) != len(Y):
            raise DataError(f"X has {len(X)} rows and Y {len(Y)}: they must be pairs")
        order = rng.permutation(len(X))
        return cca(X[order], Y[order], self.k, ridge=self.ridge, passes=self.passes)

    def checksum(self) -> str:
        return " ".join(_of_file(path, datasets.checksum) for path in self._paths())

    def _paths(self) -> list[str]:
        return [path for path in (self.path_x, self.path_y) if path is not None]

    def _pairs(self) -> tuple[np.ndarray, np.ndarray]:
        found = [_of_file(path, _loaded) for path in self._paths()]
        if self.path_y is None:
            if not (isinstance(found[0], dict) and {"X", "Y"} <= found[0].keys()):
                raise DataError(f"{self.path_x} is no .npz file with X and Y: name path_y too")
            found = [found[0]["X"], found[0]["Y"]]
        if any(isinstance(one, dict) or one.ndim != 2 for one in found):
            raise DataError(f"{' and '.join(self._paths())} hold no two matrices in .npy files")
        return found[0], found[1]


def _of_file(path: str, read: Callable[[Path], T]) -> T:
    try:
        return read(Path(path).expanduser())
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except Exception as error:  # foreign headers fail in as many ways as there are parsers
        raise DataError(f"{path} cannot be read as a .npy or .npz file: {error}") from error


def _loaded(file: Path) -> Any:
    with opened(file) as stream:
        found = np.load(stream, allow_pickle=False)
        if isinstance(found, np.ndarray):
            return found
        return {name: found[name] for name in ("X", "Y") if name in found}


@dataclass(frozen=True)
class DigitHalves(CCA):
    """Left and right halves of the 1,797 handwritten digits of scikit-learn, 32 pixels each.

    Some pixels are always blank: the covariances need a ridge, relative to the variance of a pixel.
    """

    name = "digit-halves"
    source = "handwritten digits of scikit-learn (Alpaydin and Kaynak 1998)"

    k: int = parameter(5, help="canonical variables sought", low=1, high=32)
    ridge: float = parameter(
        0.01, help="ridge over the mean variance of a pixel", low=1e-6, high=1e6
    )
    passes: int = parameter(5, help="how often a stream goes through the pairs", low=1)

    def build(self, rng: np.random.Generator) -> Instance[PairsMatrices]:
        images = digits.pixels().reshape(-1, 8, 8)[rng.permutation(1797)] / 16
        left, right = (
            images[:, :, half].reshape(len(images), -1) for half in (slice(4), slice(4, 8))
        )
        ridge = self.ridge * float(images.reshape(len(images), -1).var(axis=0).mean())
        return cca(left, right, self.k, ridge=ridge, passes=self.passes)
