"""Problems of principal components."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from orthobench_kit.sparse import checked_sparse

from orthobench.contract import Array, DataError, Instance, Problem, UsageError, parameter
from orthobench.tools.files import opened
from orthobench_pca.maker import pca
from orthobench_pca.oracle import PCAOracle

SPECTRA = ("exponential", "power", "spiked", "flat")

PROBE_BYTES = 2**16
"""Number of bytes at both ends in a checksum."""


@dataclass(frozen=True, kw_only=True)
class PrincipalComponents(Problem[PCAOracle]):
    """Base of the problems of this family."""

    family: ClassVar[str] = "pca"
    offers: ClassVar[type[PCAOracle]] = PCAOracle
    primary: ClassVar[str] = "gap"
    tuned_by: ClassVar[str] = "gap"

    center: bool = parameter(True, help="whether means are subtracted")
    scale: bool = parameter(False, help="whether columns are divided by standard deviations")

    @classmethod
    def lack(cls, metrics: Mapping[str, float]) -> str:
        parts = [f"{100 * metrics['gap']:.2g} % of the leading variance lost"]
        if "angle" in metrics:
            parts.append(f"largest angle {np.degrees(metrics['angle']):.2g} degrees")
        if 0 < metrics.get("passes", 1.0) < 1:
            parts.append(f"{100 * metrics['passes']:.2g} % of the rows read")
        return ", ".join(parts)


def deviations(spectrum: str, count: int, k: int) -> Array:
    """Return the standard deviations of the components, descending."""
    i = np.arange(count)
    if spectrum == "exponential":
        return np.asarray(np.maximum(0.8**i, 1e-3))
    if spectrum == "power":
        return np.asarray(1 / (i + 1.0))
    if spectrum == "spiked":
        return np.append(np.linspace(2, 1.2, k), np.ones(count - k))
    return np.linspace(1, 0.98, count)


def rows_parameter(default: int) -> Any:
    """Declare the parameter ``n``."""
    return parameter(default, help="rows", low=2)


def columns_parameter(default: int) -> Any:
    """Declare the parameter ``d``."""
    return parameter(default, help="columns", low=1)


def components_parameter(default: int) -> Any:
    """Declare the parameter ``k``."""
    return parameter(default, help="components", low=1)


def spectrum_parameter(default: str) -> Any:
    """Declare the parameter ``spectrum``."""
    return parameter(default, help="standard deviations of the components", choices=SPECTRA)


def precision_parameter() -> Any:
    """Declare the parameter ``dtype``."""
    return parameter("float64", help="precision of the entries", choices=("float64", "float32"))


@dataclass(frozen=True)
class TallPCA(PrincipalComponents):
    """Many rows and few columns, with a prescribed spectrum, random directions, and a mean.

    Standard deviations of the components, i from 0:

    - ``exponential``: 0.8^i, and at least 0.001.
    - ``power``: 1 / (i + 1).
    - ``spiked``: k of them from 2 to 1.2, the others 1.
    - ``flat``: from 1 to 0.98.
    """

    name = "tall-pca"

    n: int = rows_parameter(5000)
    d: int = columns_parameter(50)
    k: int = components_parameter(5)
    spectrum: str = spectrum_parameter("exponential")
    dtype: str = precision_parameter()

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        side = min(self.n, self.d)
        if self.k > side:
            raise UsageError(f"k = {self.k} components of a matrix {self.n, self.d} are too many")
        V = np.linalg.qr(rng.standard_normal((self.d, side)))[0]
        X = (rng.standard_normal((self.n, side)) * deviations(self.spectrum, side, self.k)) @ V.T
        X += rng.standard_normal(self.d)
        return pca(X.astype(self.dtype, copy=False), self.k, self.center, self.scale)


@dataclass(frozen=True)
class WidePCA(TallPCA):
    """Few rows and many columns, as of gene expression, like `TallPCA`."""

    name = "wide-pca"

    n: int = rows_parameter(72)
    d: int = columns_parameter(2000)
    spectrum: str = spectrum_parameter("power")


@dataclass(frozen=True)
class FlatSpectrumPCA(TallPCA):
    """A slowly falling spectrum, which is hard for randomized methods, like `TallPCA`."""

    name = "flat-spectrum-pca"

    n: int = rows_parameter(10000)
    d: int = columns_parameter(20)
    k: int = components_parameter(1)
    spectrum: str = spectrum_parameter("flat")


@dataclass(frozen=True)
class SparseCountsPCA(PrincipalComponents):
    """Sparse counts like those of single cells, in CSR format.

    Each row draws d times `density` columns, with probabilities of its kind, and counts them.
    """

    name = "sparse-counts-pca"

    n: int = rows_parameter(1000)
    d: int = columns_parameter(2000)
    k: int = components_parameter(10)
    density: float = parameter(0.05, help="share of nonzeros", above=0.0, high=1.0)
    kinds: int = parameter(12, help="kinds of rows", low=1)
    log1p: bool = parameter(True, help="log(1 + x) of rows scaled to equal sums")

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        from scipy.sparse import csr_matrix

        if self.k > min(self.n, self.d):
            raise UsageError(f"k = {self.k} components of {self.n} rows, {self.d} columns")
        common = rng.lognormal(sigma=1.0, size=self.d)
        weights = common * rng.lognormal(sigma=1.0, size=(self.kinds, self.d))
        shares = np.cumsum(weights, axis=1) / weights.sum(axis=1)[:, None]
        kinds = rng.integers(self.kinds, size=self.n)
        count = max(1, round(self.density * self.d))
        columns = np.empty((self.n, count), np.int32)
        for kind in range(self.kinds):
            own = kinds == kind
            drawn = np.searchsorted(shares[kind], rng.random((int(own.sum()), count)))
            columns[own] = np.minimum(drawn, self.d - 1)
        ends = np.arange(self.n + 1, dtype=np.int64) * count
        X = csr_matrix((np.ones(columns.size), columns.ravel(), ends), shape=(self.n, self.d))
        X.sum_duplicates()
        return pca(log_normalized(X) if self.log1p else X, self.k, self.center, self.scale)


@dataclass(frozen=True)
class SparseTermsPCA(SparseCountsPCA):
    """The same for terms in documents, not centred."""

    name = "sparse-terms-pca"

    center: bool = parameter(False, help="whether means are subtracted")


@dataclass(frozen=True)
class NpyPCA(PrincipalComponents):
    """Your own matrix in a file, all of its rows.

    A .npy file is mapped, and may be larger than memory. A .npz file has a sparse matrix of
    `scipy.sparse.save_npz`, or one array. `log1p` is the usual preparation of counts.
    """

    name = "npy-pca"

    path: str = parameter(help="X.npy, a matrix (rows, columns), or X.npz, a sparse one")
    k: int = components_parameter(2)
    log1p: bool = parameter(False, help="log(1 + x) of rows scaled to equal sums; of .npz alone")

    def build(self, rng: np.random.Generator) -> Instance[PCAOracle]:
        X = read(Path(self.path).expanduser())
        if self.log1p:
            if not hasattr(X, "indptr"):
                raise UsageError("log1p is for the sparse matrix of a .npz file")
            X = log_normalized(X)
        return pca(X, self.k, self.center, self.scale)

    def checksum(self) -> str:
        """Return a digest of size, modification time, and bytes at the ends."""
        file = Path(self.path).expanduser()
        try:
            status = file.stat()
            digest = sha256(f"{status.st_size} {status.st_mtime_ns}".encode())
            with opened(file) as stream:
                for place in (0, max(0, status.st_size - PROBE_BYTES)):
                    stream.seek(place)
                    digest.update(stream.read(PROBE_BYTES))
        except OSError as error:
            raise _unreadable(file, error) from error
        return digest.hexdigest()


def read(file: Path) -> Any:
    """Return the matrix of a file: mapped (.npy), or sparse or dense (.npz).

    DataError if it has none.
    """
    from scipy.sparse import load_npz

    try:
        opened(file).close()
        if file.suffix != ".npz":
            return np.lib.format.open_memmap(file, mode="r")
        with np.load(file, allow_pickle=False) as stored:
            if "indptr" not in stored and len(stored.files) == 1:
                return stored[stored.files[0]]
        return checked_sparse(load_npz(file), f"the rows of {file}")
    except DataError:
        raise
    except Exception as error:  # foreign headers fail in as many ways as there are parsers
        raise _unreadable(file, error) from error


def log_normalized(X: Any) -> Any:
    """Return log(1 + x) of the rows scaled to their median sum, in CSR format."""
    sums = np.asarray(X.sum(axis=1), dtype=np.float64).ravel()
    factors = np.median(sums[sums > 0]) / np.where(sums > 0, sums, 1.0)
    scaled = X.tocsr().astype(np.float64)
    scaled.data = np.log1p(scaled.data * np.repeat(factors, np.diff(scaled.indptr)))
    return scaled


def _unreadable(file: Path, error: Exception) -> DataError:
    if isinstance(error, FileNotFoundError):
        return DataError(f"there is no file {file}")
    said = " ".join(str(error).split()) or type(error).__name__
    return DataError(f"{file} cannot be read as a matrix in a .npy or .npz file: {said:.300}")
