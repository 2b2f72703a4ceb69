"""Problems of `benchmarks/follow.py`: data outside the atlas, each with a judge in numpy alone.

Thirty problems are for development; thirty are held out and run once, at the end. Together they
cover the ten families. Nothing here imports orthobench: a problem says how to make it from the
module, and how to measure a solution without it.

A list of your own is a Python file with such functions and these imports::

    from pathlib import Path

    import numpy as np
    from follow_problems import Posed, pca, problem

    @problem("own", "pca", real=True, rows="in order of time")
    def sensors(folder: Path) -> Posed:
        X = np.load("sensors.npy")
        return pca(X, k=4)                       # an instance in a variable
        return pca(X, k=4, file=folder / "X.npy")  # or a file that the problem reads

``python benchmarks/follow.py --problems FILE.py`` runs it. A function takes an empty folder for its
files. The judges of all families are here: `pca`, `stream`, `sparse`, `cca`, `pencil`, `polar`,
`tensor`, `tucker`; and `function` for a cost and its gradient on orthonormal columns. Raise
`AbsentError` if data are missing: the problem is skipped, and the reason is printed.
"""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn import datasets

Array: TypeAlias = "NDArray[Any]"
Value: TypeAlias = Callable[[Array, "Array | None"], float]
"""Takes a solution, and weights if there are any; returns a value to be minimized, or infinity."""

FEASIBLE = 1e-6
"""The largest |U'U - I| of a solution that is taken for orthonormal."""

STARTS = 11
"""Random points; their median value is the start of the gap."""


class AbsentError(Exception):
    """Data of a problem are not on this machine."""


@dataclass(frozen=True)
class Posed:
    """A problem with its data, and the judge.

    Attributes
    ----------
    make : callable
        Takes the module orthobench; returns an instance, or a specification such as
        ``"npy-pca path=X.npy k=8"``.
    value : callable
        The judge.
    start : float
        The value of a random feasible point.
    best : float, optional
        The optimum; None if it is unknown or no method can reach it: then the best value that any
        call reached takes its place.
    """

    make: Callable[[Any], Any]
    value: Value
    start: float
    best: float | None = None


@dataclass(frozen=True)
class Problem:
    """An entry of a list: its set, family and kind of data, and the function that poses it."""

    name: str
    set: str
    family: str
    real: bool
    rows: str
    pose: Callable[[Path], Posed]


PROBLEMS: dict[str, Problem] = {}


def problem(
    part: str, family: str, *, real: bool = False, rows: str = ""
) -> Callable[[Callable[[Path], Posed]], Callable[[Path], Posed]]:
    """Add a function to the list, under its name with hyphens."""

    def add(pose: Callable[[Path], Posed]) -> Callable[[Path], Posed]:
        name = pose.__name__.replace("_", "-")
        if name in PROBLEMS:
            raise ValueError(f"there are two problems {name}: give one of them another name")
        PROBLEMS[name] = Problem(name, part, family, real, rows, pose)
        return pose

    return add


# judges


def random_point(rng: np.random.Generator, n: int, k: int) -> Array:
    """Return a random matrix with orthonormal columns."""
    return np.asarray(np.linalg.qr(rng.standard_normal((n, k)))[0])


def start_of(value: Value, n: int, k: int) -> float:
    """Return the median value of random points."""
    rng = np.random.default_rng(0)
    return float(np.median([value(random_point(rng, n, k), None) for _ in range(STARTS)]))


def orthonormal(U: Array) -> bool:
    """Return whether columns are orthonormal."""
    return bool(np.isfinite(U).all() and np.abs(U.T @ U - np.eye(U.shape[1])).max() <= FEASIBLE)


def captured(C: Array, k: int, make: Callable[[Any], Any], attainable: bool = True) -> Posed:
    """Pose the leading subspace of a second moment; the value is the share that is missing."""
    optimum = float(np.linalg.eigvalsh(C)[-k:].sum())

    def value(U: Array, weights: Array | None) -> float:
        U = np.asarray(U, dtype=np.float64)
        return 1 - float(np.vdot(U, C @ U)) / optimum if orthonormal(U) else np.inf

    return Posed(make, value, start_of(value, len(C), k), 0.0 if attainable else None)


def standardized(X: Array, scale: bool = True) -> Array:
    """Return centred columns, with unit variance if asked."""
    Z = np.asarray(X, dtype=np.float64)
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z / np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0) if scale else Z)


def pca(X: Any, k: int, *, scale: bool = False, file: Path | None = None) -> Posed:
    """Pose the principal components of a matrix, dense or sparse."""
    if file is not None:
        np.save(file, X)

    def make(ob: Any) -> Any:
        if file is not None:
            return f"npy-pca path={file} k={k}"
        return ob.pca(X, k=k, scale=scale) if scale else ob.pca(X, k=k)

    rows, d = X.shape
    scores: Callable[[Array], Array]
    if scipy.sparse.issparse(X):
        wide = X.astype(np.float64)
        mean = np.asarray(wide.mean(axis=0)).ravel()
        scores = lambda U: wide @ U - mean @ U  # noqa: E731
        gram = LinearOperator(
            (rows, rows), dtype=np.float64,
            matvec=lambda u: scores(wide.T @ u - mean * u.sum()),
        )  # fmt: skip
        optimum = float(eigsh(gram, k, v0=np.ones(rows), return_eigenvectors=False).sum())
    else:
        Z = standardized(X, scale)
        if d <= rows:
            return captured(Z.T @ Z, k, make)
        scores = lambda U: Z @ U  # noqa: E731
        optimum = float(np.linalg.eigvalsh(Z @ Z.T)[-k:].sum())

    def value(U: Array, weights: Array | None) -> float:
        U = np.asarray(U, dtype=np.float64)
        return 1 - float(np.linalg.norm(scores(U)) ** 2) / optimum if orthonormal(U) else np.inf

    return Posed(make, value, start_of(value, d, k), 0.0)


def stream(X: Array, k: int) -> Posed:
    """Pose the leading subspace of the second moment of rows, read once and in their order."""
    wide = np.asarray(X, dtype=np.float64)
    return captured(wide.T @ wide, k, lambda ob: ob.stochastic_pca(X, k=k))


def stream_file(X: Array, k: int, file: Path) -> Posed:
    """Pose the same of a file in its order: the last two fifths of the rows judge."""
    np.save(file, X)
    tested = standardized(X, scale=False)[len(X) - round(0.4 * len(X)) :]
    spec = f"npy-stochastic-pca path={file} k={k} shuffle=false"
    return captured(tested.T @ tested, k, lambda _: spec, attainable=False)


def sparse(X: Array, m: int, cardinality: int, file: Path | None = None) -> Posed:
    """Pose sparse components of standardized columns, with a number of loadings for each."""
    Z = standardized(X)
    total = float(np.linalg.norm(Z)) ** 2
    if file is not None:
        np.save(file, X)

    def make(ob: Any) -> Any:
        if file is not None:
            return f"npy-sparse path={file} m={m} cardinality={cardinality}"
        return ob.sparse_pca(Z, m, cardinality=cardinality)

    def value(U: Array, weights: Array | None) -> float:
        counts = np.count_nonzero(U, axis=0)
        unit = np.abs(np.linalg.norm(U, axis=0) - 1).max() <= FEASIBLE
        if not unit or counts.max() > cardinality or not counts.all():
            return float("inf")
        scores = Z @ U
        order = np.argsort(-np.linalg.norm(scores, axis=0), kind="stable")
        diagonal = np.diagonal(np.linalg.qr(scores[:, order])[1])
        return 1 - float(diagonal @ diagonal) / total

    return Posed(make, value, 1.0)


def cca(X: Array, Y: Array, k: int, *, ridge: float = 0.0, file: Path | None = None) -> Posed:
    """Pose canonical correlations of pairs; the value is the share of their sum that is missing."""
    p, sides = X.shape[1], (standardized(X, False), standardized(Y, False))
    N = len(X)
    xx, yy = (Z.T @ Z / N + ridge * np.eye(Z.shape[1]) for Z in sides)
    xy = sides[0].T @ sides[1] / N
    if file is not None:
        np.savez(file, X=X, Y=Y)

    def correlations(A: Array, B: Array) -> Array:
        roots = [np.linalg.cholesky(M.T @ S @ M) for M, S in ((A, xx), (B, yy))]
        left = scipy.linalg.solve_triangular(roots[0], A.T @ xy @ B, lower=True)
        both = scipy.linalg.solve_triangular(roots[1], left.T, lower=True)
        return np.asarray(np.linalg.svd(both, compute_uv=False))

    optimum = float(correlations(np.eye(p), np.eye(Y.shape[1]))[:k].sum())

    def value(W: Array, weights: Array | None) -> float:
        try:
            return 1 - float(correlations(W[:p], W[p:]).sum()) / optimum
        except np.linalg.LinAlgError:  # columns are dependent
            return float("inf")

    def make(ob: Any) -> Any:
        if file is None:
            return ob.cca(X, Y, k, ridge=ridge) if ridge else ob.cca(X, Y, k)
        return f"npy-cca path_x={file} k={k}" + (f" ridge={ridge}" if ridge else "")

    return Posed(make, value, start_of(value, p + Y.shape[1], k), 0.0)


def pencil(A: Array, B: Array, k: int) -> Posed:
    """Pose the leading generalized eigenvectors; the value is the missing share of their sum."""
    A, B = (A + A.T) / 2, (B + B.T) / 2
    optimum = float(scipy.linalg.eigh(A, B, eigvals_only=True)[-k:].sum())

    def value(X: Array, weights: Array | None) -> float:
        try:
            root = np.linalg.cholesky(X.T @ B @ X)
        except np.linalg.LinAlgError:
            return float("inf")
        unit = scipy.linalg.solve_triangular(root, X.T, lower=True).T
        return 1 - float(np.vdot(unit, A @ unit)) / optimum

    return Posed(
        lambda ob: ob.generalized_eigenvectors(A, B, k), value, start_of(value, len(A), k), 0.0
    )


def polar(A: Array) -> Posed:
    """Pose the polar factor of a matrix with at least as many rows as columns, or of a batch."""
    U, _, Vt = np.linalg.svd(np.asarray(A, dtype=np.float64), full_matrices=False)
    factor = U @ Vt

    def value(X: Array, weights: Array | None) -> float:
        missed = np.linalg.norm(np.reshape(X, factor.shape) - factor)
        return float(missed / np.linalg.norm(factor))

    return Posed(lambda ob: ob.polar(A), value, 1.0, 0.0)


LETTERS = "abcdef"


def contracted(T: Array, U: Array) -> Array:
    """Return T(u, ..., u) for each column."""
    partial = np.tensordot(T, U, axes=(T.ndim - 1, 0))
    while partial.ndim > 1:
        partial = np.einsum("...ij,ij->...j", partial, U)
    return np.asarray(partial)


def tensor(T: Array, *, file: Path | None = None, best: float | None = None) -> Posed:
    """Pose the orthogonal decomposition of a symmetric tensor; the value is the residual."""
    norm = float(np.linalg.norm(T))
    if file is not None:
        np.save(file, T)

    def value(U: Array, weights: Array | None) -> float:
        if not orthonormal(U):
            return float("inf")
        explained = float((contracted(T, U) ** 2).sum())
        return float(np.sqrt(max(0.0, norm**2 - explained))) / norm

    def make(ob: Any) -> Any:
        return ob.orthogonal_tensor(T) if file is None else f"npy-tensor path={file}"

    return Posed(make, value, start_of(value, len(T), len(T)), best)


def tucker(T: Array, rank: int, samples: Array | None = None) -> Posed:
    """Pose the symmetric Tucker decomposition of a tensor, or of the moment of samples in rows."""
    order, square = T.ndim, float(np.vdot(T, T))

    def value(U: Array, weights: Array | None) -> float:
        if weights is not None:  # components of unit length
            own = float(weights @ (U.T @ U) ** order @ weights)
            return (square - 2 * float(weights @ contracted(T, U)) + own) / square
        if not orthonormal(U):
            return float("inf")
        core = T
        for _ in range(order):
            core = np.tensordot(core, U, axes=(0, 0))
        return 1 - float(np.vdot(core, core)) / square

    def make(ob: Any) -> Any:
        if samples is None:
            return ob.symmetric_tucker(tensor=T, rank=rank)
        return ob.symmetric_tucker(samples, order=order, rank=rank)

    return Posed(make, value, start_of(value, len(T), rank))


def function(
    cost: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    n: int,
    p: int,
    *,
    best: float | None = None,
    group: str = "",
    spec: str = "",
) -> Posed:
    """Pose a function of orthonormal columns; `group`: "both" or "+1" for an orthogonal matrix.

    `spec` names a problem of the catalogue with the same function of data in files.
    """

    def value(X: Array, weights: Array | None) -> float:
        wrong = group == "+1" and np.linalg.det(X) < 0
        return float(cost(X)) if orthonormal(X) and not wrong else np.inf

    def make(ob: Any) -> Any:
        if spec:
            return spec
        if group:
            return ob.orthogonal_group(cost, gradient, n=n, component=group)
        return ob.stiefel(cost, gradient, n=n, p=p)

    rng = np.random.default_rng(0)
    start = float(np.median([cost(random_point(rng, n, p)) for _ in range(STARTS)]))
    return Posed(make, value, start, best)


# data


def _file(name: str) -> Path:
    folder = os.environ.get("ORTHOBENCH_DATA", "")
    path = Path(folder) / name
    if not folder or not path.exists():
        raise AbsentError(f"{name} is not in the folder ORTHOBENCH_DATA")
    return path


@cache
def mnist() -> tuple[Array, Array]:
    """Return 10,000 images of 784 pixels from 0 to 1, and their labels."""
    images = gzip.decompress(_file("t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress(_file("t10k-labels-idx1-ubyte.gz").read_bytes())
    pixels = np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784)
    return pixels / 255.0, np.frombuffer(labels, np.uint8, offset=8)


@cache
def gulfport() -> Array:
    """Return 10,000 pixels of a scene in 191 spectral bands, line by line."""
    from scipy.io import loadmat

    cube = np.asarray(loadmat(_file("abu-airport-4.mat"))["data"], dtype=np.float64)
    return cube.reshape(-1, cube.shape[2]) / 1000


@cache
def returns() -> Array:
    """Return the daily returns of 30 industries in per cent, in order of time."""
    text = _file("30_Industry_Portfolios_Daily.CSV").read_text().splitlines()
    rows = [line.split(",")[1:31] for line in text if line[1:9].isdigit() or line[:8].isdigit()]
    table = np.array([row for row in rows if len(row) == 30], dtype=np.float64)
    return np.asarray(table[(table > -99).all(axis=1)])


@cache
def cells() -> Any:
    """Return the sparse counts of 3,774 cells and 16,791 genes, float32."""
    return scipy.sparse.load_npz(_file("pbmc-facs-counts.npz")).tocsr()


@cache
def genes() -> Array:
    """Return the expression of 12,600 genes in 102 samples, samples in rows."""
    raw = lzma.decompress(_file("singh.RData").read_bytes())
    at = raw.index((12600).to_bytes(4, "big")) + 4  # a list of columns, of integers or of doubles
    columns = []
    for _ in range(12600):
        kind, length = np.frombuffer(raw, ">i4", 2, at)
        number = ">f8" if kind == 14 else ">i4"
        columns.append(np.frombuffer(raw, number, length, at + 8).astype(np.float64))
        at += 8 + int(length) * (8 if kind == 14 else 4)
    return np.array(columns).T


@cache
def picture(name: str) -> Array:
    """Return a picture that scikit-learn ships, (427, 640, 3), from 0 to 1."""
    try:
        return np.asarray(datasets.load_sample_image(f"{name}.jpg"), dtype=np.float64) / 255
    except ImportError as error:
        raise AbsentError(f"scikit-learn's pictures need Pillow ({error})") from None


def patches(name: str, side: int, count: int, seed: int = 0) -> Array:
    """Return square patches of a grey picture at random places, without their means."""
    windows = np.lib.stride_tricks.sliding_window_view(picture(name).mean(axis=2), (side, side))
    rng = np.random.default_rng(seed)
    rows, columns = (rng.integers(0, size, count) for size in windows.shape[:2])
    found = windows[rows, columns].reshape(count, -1)
    return np.asarray(found - found.mean(axis=1, keepdims=True))


def leading_scores(X: Array, k: int) -> Array:
    """Return the scores of the leading principal components with unit variance."""
    Z = standardized(X, scale=False)
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    return np.asarray(Z @ vectors[:, : -k - 1 : -1] / np.sqrt(values[: -k - 1 : -1]))


def moment(X: Array, order: int) -> Array:
    """Return the mean of x ⊗ ... ⊗ x."""
    first, rest = LETTERS[:order], ",".join(f"z{letter}" for letter in LETTERS[:order])
    return np.asarray(np.einsum(f"{rest}->{first}", *[X] * order, optimize=True)) / len(X)


def decaying(n: int, d: int, seed: int, decay: float = 0.9) -> Array:
    """Return random rows whose components have standard deviations decay^i, and a mean."""
    rng = np.random.default_rng(seed)
    scales = np.maximum(decay ** np.arange(d), 0.02)
    return np.asarray(
        (rng.standard_normal((n, d)) * scales) @ random_point(rng, d, d).T + rng.standard_normal(d)
    )


def rotating(n: int, d: int, k: int, seed: int) -> Array:
    """Return rows whose subspace turns by a right angle from the first to the last."""
    rng = np.random.default_rng(seed)
    both = random_point(rng, d, 2 * k)
    angle = np.linspace(0, np.pi / 2, n)[:, None]
    scores = rng.standard_normal((n, k)) * np.linspace(3, 2, k)
    planes = (scores * np.cos(angle)) @ both[:, :k].T + (scores * np.sin(angle)) @ both[:, k:].T
    return np.asarray(planes + 0.5 * rng.standard_normal((n, d)))


def between_and_within(X: Array, labels: Array) -> tuple[Array, Array]:
    """Return the scatter between classes and within them."""
    Z, own = standardized(X, False), np.zeros_like(X, dtype=np.float64)
    for label in np.unique(labels):
        own[labels == label] = Z[labels == label].mean(axis=0)
    return own.T @ own / len(Z), (Z - own).T @ (Z - own) / len(Z)


# functions


def brockett(A: Array, k: int, spec: str = "", group: bool = False) -> Posed:
    """Minimize tr(X'AXN), N = diag(k, ..., 1) / k; the lowest eigenvectors are optimal."""
    weights = np.arange(k, 0, -1) / k
    best = float(np.linalg.eigvalsh(A)[:k] @ weights)
    return function(
        lambda X: float(np.sum(X * (A @ X) * weights)),
        lambda X: 2 * (A @ X) * weights,
        len(A), k, best=best, spec=spec, group="both" if group else "",
    )  # fmt: skip


def quartic(Y: Array, p: int, **settings: Any) -> Posed:
    """Minimize minus the mean fourth power of scores, summed over the columns."""
    N = len(Y)
    return function(
        lambda X: -float(np.sum((Y @ X) ** 4)) / N,
        lambda X: -4 / N * (Y.T @ (Y @ X) ** 3),
        Y.shape[1], p, **settings,
    )  # fmt: skip


def varimax(L: Array) -> Posed:
    """Rotate loadings to the largest variance of their squares."""
    d = len(L)

    def cost(U: Array) -> float:
        squares = (L @ U) ** 2
        return -float(np.sum(squares**2) - np.sum(squares.sum(axis=0) ** 2) / d)

    def gradient(U: Array) -> Array:
        M = L @ U
        return np.asarray(-4 * L.T @ (M**3 - M * (M**2).sum(axis=0) / d))

    return function(cost, gradient, L.shape[1], L.shape[1], group="both")


def rotation(A: Array, B: Array, group: str) -> Posed:
    """Minimize |AU - B|² over orthogonal matrices, whose optimum is a polar factor."""
    P, values, Qt = np.linalg.svd(A.T @ B)
    if group == "+1" and np.linalg.det(P @ Qt) < 0:
        values[-1] *= -1
    best = float(np.vdot(A, A) + np.vdot(B, B) - 2 * values.sum())
    return function(
        lambda U: float(np.linalg.norm(A @ U - B) ** 2),
        lambda U: 2 * A.T @ (A @ U - B),
        len(P), len(P), best=best, group=group,
    )  # fmt: skip


def loadings(X: Array, k: int) -> Array:
    """Return the loadings of the leading principal components, times standard deviations."""
    Z = standardized(X, False) / np.sqrt(len(X))
    if len(Z) < Z.shape[1]:
        return np.asarray(Z.T @ np.linalg.eigh(Z @ Z.T)[1][:, : -k - 1 : -1])
    values, vectors = np.linalg.eigh(Z.T @ Z)
    return np.asarray(vectors[:, : -k - 1 : -1] * np.sqrt(values[: -k - 1 : -1]))


# development: principal components


@problem("development", "pca", real=True, rows="line by line of an image")
def gulfport_8000x175(folder: Path) -> Posed:
    return pca(gulfport()[:8000, :175], k=8, file=folder / "X.npy")


@problem("development", "pca", rows="in random order")
def exchangeable_20000x100(folder: Path) -> Posed:
    return pca(decaying(20_000, 100, seed=1), k=8, file=folder / "X.npy")


@problem("development", "pca", rows="stored in ten groups")
def grouped_20000x100(folder: Path) -> Posed:
    means = np.random.default_rng(2).standard_normal((10, 100))
    return pca(decaying(20_000, 100, seed=1) + np.repeat(means, 2000, axis=0), k=8)


@problem("development", "pca", real=True, rows="by kind of cell, sparse")
def pbmc_sparse(folder: Path) -> Posed:
    return pca(cells(), k=10)


@problem("development", "pca", rows="drifting, float32")
def drifting_1000000x8(folder: Path) -> Posed:
    return pca(rotating(1_000_000, 8, 3, seed=3).astype(np.float32), k=3)


# development: stochastic PCA


@problem("development", "stochastic PCA", real=True, rows="in random order")
def china_patches_20000(folder: Path) -> Posed:
    return stream(patches("china", 8, 20_000), k=8)


@problem("development", "stochastic PCA", real=True, rows="by label")
def mnist_by_label(folder: Path) -> Posed:
    images, labels = mnist()
    order = np.argsort(labels, kind="stable")
    return stream(standardized(images[order], False), k=5)


@problem("development", "stochastic PCA", real=True, rows="in order of time")
def industry_returns(folder: Path) -> Posed:
    return stream(returns(), k=4)


@problem("development", "stochastic PCA", real=True, rows="line by line of an image")
def gulfport_scan(folder: Path) -> Posed:
    return stream_file(gulfport(), k=6, file=folder / "X.npy")


# development: functions of orthonormal columns


@problem("development", "Stiefel manifold")
def density_200x8(folder: Path) -> Posed:
    levels = np.arange(1, 201) / 20.0

    def cost(X: Array) -> float:
        density = (X**2).sum(axis=1)
        return float(levels @ density / 2 + np.sum(density**2))

    def gradient(X: Array) -> Array:
        return np.asarray((levels + 4 * (X**2).sum(axis=1))[:, None] * X)

    return function(cost, gradient, 200, 8)


@problem("development", "Stiefel manifold", real=True)
def gulfport_least_eigenvectors(folder: Path) -> Posed:
    A, file = np.cov(gulfport().T), folder / "A.npy"
    np.save(file, A)
    return brockett(A, 5, spec=f"npy-brockett path={file} k=5")


@problem("development", "Stiefel manifold", real=True)
def mnist_kurtosis_50x5(folder: Path) -> Posed:
    return quartic(leading_scores(mnist()[0], 50), 5)


@problem("development", "Stiefel manifold", real=True)
def industry_procrustes(folder: Path) -> Posed:
    A, B = returns()[:, :24], returns()[:, 24:]
    files = folder / "A.npy", folder / "B.npy"
    for file, matrix in zip(files, (A, B), strict=True):
        np.save(file, matrix)
    N = len(A)
    return function(
        lambda X: float(np.linalg.norm(A @ X - B) ** 2) / N,
        lambda X: 2 / N * A.T @ (A @ X - B),
        24, 6, spec=f"npy-procrustes path={files[0]} target={files[1]}",
    )  # fmt: skip


# development: functions of orthogonal matrices


@problem("development", "orthogonal group", real=True)
def mnist_varimax_20(folder: Path) -> Posed:
    return varimax(loadings(mnist()[0], 20))


@problem("development", "orthogonal group", real=True)
def gulfport_rotation_60(folder: Path) -> Posed:
    X = standardized(gulfport()[:, :60], False)
    return rotation(X[:-1:2] / 10, X[1::2] / 10, "both")


@problem("development", "orthogonal group")
def geometric_brockett_30(folder: Path) -> Posed:
    Q = random_point(np.random.default_rng(4), 30, 30)
    return brockett(Q * np.geomspace(1, 0.01, 30) @ Q.T, 30, group=True)


# development: canonical correlation


@problem("development", "canonical correlation", real=True)
def patch_halves_file(folder: Path) -> Posed:
    X = patches("china", 16, 20_000) + 0.01 * np.random.default_rng(5).standard_normal(
        (20_000, 256)
    )
    left = np.arange(256) % 16 < 8
    return cca(X[:, left], X[:, ~left], k=4, file=folder / "pairs.npz")


@problem("development", "canonical correlation", real=True)
def linnerud_pairs(folder: Path) -> Posed:
    both = datasets.load_linnerud()
    return cca(both.data, both.target, k=2)


@problem("development", "canonical correlation", real=True, rows="in order of time")
def industry_halves(folder: Path) -> Posed:
    return cca(returns()[:, :15], returns()[:, 15:], k=3)


# development: generalized eigenvectors


@problem("development", "generalized eigenvectors", real=True)
def mnist_discriminants_100(folder: Path) -> Posed:
    images, labels = mnist()
    X = images @ random_point(np.random.default_rng(6), 784, 100)
    return pencil(*between_and_within(X, labels), k=9)


@problem("development", "generalized eigenvectors")
def clustered_pencil_400(folder: Path) -> Posed:
    rng = np.random.default_rng(7)
    Q, R = random_point(rng, 400, 400), rng.standard_normal((400, 400))
    values = np.concatenate([np.linspace(1.05, 1.0, 12), np.linspace(0.9, 0.01, 388)])
    root = np.eye(400) + R @ R.T / 400
    return pencil(root @ (Q * values @ Q.T) @ root, root @ root, k=6)


# development: polar factor


@problem("development", "polar factor", real=True)
def china_polar_640x427(folder: Path) -> Posed:
    return polar(picture("china")[:, :, 0].T)


@problem("development", "polar factor", real=True)
def patch_polar_batch(folder: Path) -> Posed:
    X = patches("china", 24, 200, seed=8).reshape(200, 24, 24)[:, :, :12]
    return polar(X + 1e-3 * np.random.default_rng(8).standard_normal(X.shape))


@problem("development", "polar factor", rows="float32")
def decaying_polar_600x200(folder: Path) -> Posed:
    rng = np.random.default_rng(9)
    A = random_point(rng, 600, 200) * np.geomspace(1, 1e-3, 200) @ random_point(rng, 200, 200).T
    return polar(A.astype(np.float32))


# development: sparse PCA


@problem("development", "sparse PCA", real=True)
def breast_cancer_sparse(folder: Path) -> Posed:
    return sparse(datasets.load_breast_cancer().data, 3, cardinality=5)


@problem("development", "sparse PCA", real=True, rows="wide")
def genes_sparse_500(folder: Path) -> Posed:
    X = np.log(np.maximum(genes(), 10.0))
    return sparse(X[:, np.argsort(-X.var(axis=0), kind="stable")[:500]], 2, cardinality=20)


# development: orthogonal tensor


@problem("development", "orthogonal tensor", real=True)
def industry_skewness_10(folder: Path) -> Posed:
    return tensor(moment(leading_scores(returns(), 10), 3))


@problem("development", "orthogonal tensor")
def uneven_tensor_20(folder: Path) -> Posed:
    U = random_point(np.random.default_rng(10), 20, 20)
    T = np.einsum("r,ar,br,cr->abc", np.geomspace(10, 0.5, 20), U, U, U)
    return tensor(T, file=folder / "T.npy", best=0.0)


# development: symmetric Tucker


@problem("development", "symmetric Tucker", real=True, rows="in order of time")
def industry_coskewness(folder: Path) -> Posed:
    X = standardized(returns())
    return tucker(moment(X, 3), 4, samples=X)


@problem("development", "symmetric Tucker")
def noisy_tucker_25(folder: Path) -> Posed:
    rng = np.random.default_rng(11)
    X = rng.exponential(size=(400, 4)) @ random_point(rng, 25, 4).T
    return tucker(moment(X - X.mean(axis=0) + 0.3 * rng.standard_normal((400, 25)), 3), 4)


# held out: principal components


@problem("held-out", "pca", real=True, rows="wide")
def genes_wide(folder: Path) -> Posed:
    return pca(genes(), k=5)


@problem("held-out", "pca", real=True, rows="by label, float32")
def mnist_matrix_by_label(folder: Path) -> Posed:
    images, labels = mnist()
    order = np.argsort(labels, kind="stable")
    return pca(images[order].astype(np.float32), k=12, file=folder / "X.npy")


@problem("held-out", "pca", rows="tall, in random order")
def tall_400000x24(folder: Path) -> Posed:
    return pca(decaying(400_000, 24, seed=21, decay=0.8), k=6)


@problem("held-out", "pca", real=True, rows="wide, lines of an image")
def china_lines(folder: Path) -> Posed:
    return pca(picture("china").reshape(427, -1), k=20)


@problem("held-out", "pca", real=True, rows="by class, tiny")
def wine_scaled(folder: Path) -> Posed:
    return pca(datasets.load_wine().data, k=3, scale=True)


# held out: stochastic PCA


@problem("held-out", "stochastic PCA", real=True, rows="by contrast, float32")
def flower_patches_60000(folder: Path) -> Posed:
    X = patches("flower", 10, 60_000, seed=22)
    order = np.argsort(np.linalg.norm(X, axis=1), kind="stable")
    return stream(X[order].astype(np.float32), k=10)


@problem("held-out", "stochastic PCA", real=True, rows="by number of counts")
def cells_by_depth(folder: Path) -> Posed:
    counts = cells()
    most = np.argsort(-np.asarray(counts.sum(axis=0)).ravel(), kind="stable")[:800]
    order = np.argsort(np.asarray(counts.sum(axis=1)).ravel(), kind="stable")
    X = np.log1p(counts[order][:, most].toarray().astype(np.float64))
    return stream(standardized(X, False), k=6)


@problem("held-out", "stochastic PCA", rows="drifting")
def rotating_300000x16(folder: Path) -> Posed:
    return stream(rotating(300_000, 16, 3, seed=23), k=3)


@problem("held-out", "stochastic PCA", real=True, rows="by diagnosis, tiny")
def breast_cancer_stream(folder: Path) -> Posed:
    both = datasets.load_breast_cancer()
    return stream(standardized(both.data)[np.argsort(both.target, kind="stable")], k=2)


# held out: functions of orthonormal columns


@problem("held-out", "Stiefel manifold", real=True)
def mnist_fair_subspace_64x6(folder: Path) -> Posed:
    images, labels = mnist()
    X = images @ random_point(np.random.default_rng(24), 784, 64)
    moments = np.array([X[labels == c].T @ X[labels == c] / sum(labels == c) for c in range(10)])
    traces = np.trace(moments, axis1=1, axis2=2)

    def losses(V: Array) -> Array:
        return np.asarray(1 - np.einsum("ij,cik,kj->c", V, moments, V, optimize=True) / traces)

    def cost(V: Array) -> float:
        return float(np.log(np.exp(20 * losses(V)).sum()) / 20)

    def gradient(V: Array) -> Array:
        shares = np.exp(20 * losses(V))
        return np.asarray(-2 * np.tensordot(shares / shares.sum() / traces, moments, 1) @ V)

    return function(cost, gradient, 64, 6)


@problem("held-out", "Stiefel manifold", real=True, rows="windows of time")
def industry_joint_diagonalization(folder: Path) -> Posed:
    C = np.array([np.cov(part.T) for part in np.array_split(returns(), 12)])
    apart = 1 - np.eye(30)

    def off(X: Array) -> Array:
        return np.asarray((X.T @ C @ X) * apart)

    return function(
        lambda X: float((off(X) ** 2).sum()) / len(C),
        lambda X: 4 / len(C) * (C @ X @ off(X)).sum(axis=0),
        30, 30,
    )  # fmt: skip


@problem("held-out", "Stiefel manifold")
def robust_subspace_100x4(folder: Path) -> Posed:
    rng = np.random.default_rng(25)
    X = rng.standard_normal((1500, 4)) @ random_point(rng, 100, 4).T * 3
    X = np.concatenate([X + 0.2 * rng.standard_normal(X.shape), rng.standard_normal((500, 100))])

    def distances(V: Array) -> Array:
        inside = ((X @ V) ** 2).sum(axis=1)
        return np.asarray(np.sqrt(np.maximum((X**2).sum(axis=1) - inside, 0.0) + 0.01))

    return function(
        lambda V: float(distances(V).mean()),
        lambda V: -X.T @ (X @ V / distances(V)[:, None]) / len(X),
        100, 4,
    )  # fmt: skip


@problem("held-out", "Stiefel manifold", real=True)
def flower_trace_ratio_100x5(folder: Path) -> Posed:
    X = patches("flower", 10, 20_000, seed=26)
    edges = X[:, 1:] - X[:, :-1]
    S = np.cov(X.T) + 1e-4 * np.eye(100)
    T = np.pad(np.cov(edges.T), ((0, 1), (0, 1))) + 1e-4 * np.eye(100)

    def parts(V: Array) -> tuple[float, float]:
        return float(np.vdot(V, S @ V)), float(np.vdot(V, T @ V))

    def gradient(V: Array) -> Array:
        above, below = parts(V)
        return np.asarray(-2 * (S @ V / below - above / below**2 * T @ V))

    return function(lambda V: -parts(V)[0] / parts(V)[1], gradient, 100, 5)


# held out: functions of orthogonal matrices


@problem("held-out", "orthogonal group", real=True)
def genes_varimax_8(folder: Path) -> Posed:
    L = loadings(genes(), 8)
    return varimax(L / np.linalg.norm(L) * 10)


@problem("held-out", "orthogonal group", rows="a rotation of space")
def attitude_3(folder: Path) -> Posed:
    rng = np.random.default_rng(27)
    A = rng.standard_normal((40, 3))
    turned = A @ random_point(rng, 3, 3) + 0.1 * rng.standard_normal((40, 3))
    return rotation(A, turned, "+1")


@problem("held-out", "orthogonal group", real=True)
def breast_cancer_sources_6(folder: Path) -> Posed:
    Y = leading_scores(standardized(datasets.load_breast_cancer().data), 6)

    def cost(U: Array) -> float:
        return float(np.logaddexp(Y @ U, -Y @ U).sum() / len(Y))

    return function(cost, lambda U: Y.T @ np.tanh(Y @ U) / len(Y), 6, 6, group="both")


# held out: canonical correlation


@problem("held-out", "canonical correlation", real=True, rows="line by line of an image")
def gulfport_band_halves(folder: Path) -> Posed:
    X = standardized(gulfport(), False)
    return cca(X[:, :95], X[:, 95:], k=5, ridge=1e-4)


@problem("held-out", "canonical correlation", real=True, rows="by hand, from a file")
def breast_cancer_mean_worst(folder: Path) -> Posed:
    X = standardized(datasets.load_breast_cancer().data)
    return cca(X[:, :10], X[:, 20:], k=4, file=folder / "pairs.npz")


@problem("held-out", "canonical correlation", rows="tall, drifting")
def tall_pairs_300000(folder: Path) -> Posed:
    rng = np.random.default_rng(28)
    common = rng.standard_normal((300_000, 3))
    X = common @ rng.standard_normal((3, 8)) + 2 * rng.standard_normal((300_000, 8))
    drift = np.linspace(0, 1, 300_000)[:, None]
    mixed = common @ (rng.standard_normal((3, 6)))
    return cca(X, mixed * drift + 2 * rng.standard_normal((300_000, 6)), k=2)


# held out: generalized eigenvectors


@problem("held-out", "generalized eigenvectors", real=True)
def gulfport_noise_fractions(folder: Path) -> Posed:
    X = gulfport()
    noise = np.diff(X.reshape(100, 100, 191), axis=1).reshape(-1, 191)
    return pencil(np.cov(X.T), np.cov(noise.T) + 1e-6 * np.eye(191), k=10)


@problem("held-out", "generalized eigenvectors", real=True, rows="tiny")
def wine_discriminants(folder: Path) -> Posed:
    both = datasets.load_wine()
    return pencil(*between_and_within(standardized(both.data), both.target), k=2)


# held out: polar factor


@problem("held-out", "polar factor", real=True)
def genes_polar_300x102(folder: Path) -> Posed:
    return polar(standardized(np.log(np.maximum(genes(), 10.0)))[:, :300].T + 0.05)


@problem("held-out", "polar factor")
def close_points_polar_150x40(folder: Path) -> Posed:
    x, y = np.linspace(0, 1, 150)[:, None], np.linspace(0, 1, 40)
    return polar(np.exp(-200 * (x - y) ** 2))


@problem("held-out", "polar factor", rows="heavy tails, a batch")
def heavy_polar_batch(folder: Path) -> Posed:
    return polar(np.random.default_rng(29).standard_t(2, size=(12, 192, 64)))


# held out: sparse PCA


@problem("held-out", "sparse PCA", real=True, rows="tiny")
def wine_sparse(folder: Path) -> Posed:
    return sparse(datasets.load_wine().data, 2, cardinality=4)


@problem("held-out", "sparse PCA", real=True, rows="from a file")
def gulfport_sparse(folder: Path) -> Posed:
    return sparse(gulfport()[::5], 3, cardinality=10, file=folder / "X.npy")


# held out: orthogonal tensor


@problem("held-out", "orthogonal tensor", real=True)
def gulfport_skewness_12(folder: Path) -> Posed:
    return tensor(moment(leading_scores(gulfport(), 12), 3), file=folder / "T.npy")


@problem("held-out", "orthogonal tensor", real=True)
def flower_kurtosis_8(folder: Path) -> Posed:
    return tensor(moment(leading_scores(patches("flower", 8, 20_000, seed=30), 8), 4))


# held out: symmetric Tucker


@problem("held-out", "symmetric Tucker", real=True)
def breast_cancer_coskewness(folder: Path) -> Posed:
    X = standardized(datasets.load_breast_cancer().data)
    return tucker(moment(X, 3), 3, samples=X)


@problem("held-out", "symmetric Tucker", real=True)
def flower_cokurtosis_16(folder: Path) -> Posed:
    X = leading_scores(patches("flower", 8, 5000, seed=31), 16)
    return tucker(moment(X * np.linspace(2, 1, 16), 4), 3)
