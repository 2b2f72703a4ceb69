"""The call that users of another library make, and our clock of its solver, at three shapes.

    python benchmarks/plain_calls.py [PATTERN [TURNS]]     the table of docs/guide/clock.md

CPU seconds of one thread on both sides, which take turns; the minimum of each counts. If a library
iterates, ours does as many iterations as the plain call did.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from fnmatch import fnmatch
from io import StringIO
from time import process_time_ns
from typing import Any

import numpy as np
from clock import spent

import orthobench as ob
from orthobench.harness.cell import instance_of
from orthobench.harness.execution import CLOCK
from orthobench.tools.environment import limited

TURNS = 3

Data = tuple[Any, ...]
"""An instance, and what the plain call is given."""


@dataclass(frozen=True)
class PlainCall:
    """A call that documentation advises, and the solver that makes it.

    Attributes
    ----------
    solver : str
    shown : str
        The call, for the table.
    sizes : tuple
        Arguments of `made` at three shapes, of which the last takes half a second or more.
    made : callable
        Returns the instance, and the arguments of `plain`.
    plain : callable
        Makes the call, and returns how many iterations it did, if any.
    settings : mapping
        Parameters of the solver.
    """

    solver: str
    shown: str
    sizes: tuple[tuple[int, ...], ...]
    made: Callable[..., Data]
    plain: Callable[..., int | None]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Compared:
    """Seconds of both at one size."""

    call: PlainCall
    size: tuple[int, ...]
    plain: float
    clock: float

    @property
    def ratio(self) -> float:
        """Our clock over the plain call."""
        return self.clock / self.plain


def compared(call: PlainCall, size: tuple[int, ...], turns: int = TURNS) -> Compared:
    """Let both take turns."""
    instance, *given = call.made(*size)
    plain, ours = [], []
    token = CLOCK.set(process_time_ns)
    try:
        # what libraries print in spite of their settings is none of the table
        with limited(1), warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            for _ in range(turns):
                seconds, iterations = spent(lambda: call.plain(*given))
                plain.append(seconds)
                budget = ob.Budget(steps=iterations) if iterations else None
                end = ob.solve(call.solver, instance, budget, **call.settings).trace[-1]
                ours.append(end.seconds + end.readout_seconds)
    finally:
        CLOCK.reset(token)
    return Compared(call, size, min(plain), min(ours))


def table(pattern: str = "*", turns: str = str(TURNS)) -> Iterator[str]:
    """Yield the lines of the table, as they are measured."""
    yield "| solver | plain call | shape | plain, s | our clock, s | ratio |"
    yield "|---|---|---|---|---|---|"
    for call in CALLS:
        if not fnmatch(call.solver, pattern):
            continue
        compared(call, call.sizes[0], 1)  # what the first call loads
        for size in call.sizes:
            found = compared(call, size, int(turns))
            shape = " x ".join(f"{n:,}" for n in size)
            page = f"[{call.solver}](../methods/{call.solver}.md)"
            seconds = f"{found.plain:.3g} | {found.clock:.3g} | {found.ratio:.2f}"
            yield f"| {page} | `{call.shown}` | {shape} | {seconds} |"


def rows_of(n: int, d: int) -> Any:
    """Return rows with a mean, and variances that fall."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.arange(1.0, d + 1) ** -0.5 + 1.0


def matrix(n: int, d: int, k: int) -> Data:
    X = rows_of(n, d)
    return ob.pca(X, k), X, k


def uncentred_matrix(n: int, d: int, k: int) -> Data:
    X = rows_of(n, d)
    return ob.pca(X, k, center=False), X, k


def stream(n: int, d: int, k: int) -> Data:
    X = rows_of(n, d) - 1
    return ob.stochastic_pca(X, k), X, k


def built(name: str, oracle: str, *names: str) -> Callable[..., Data]:
    """Return a maker of a problem, whose plain call is given an attribute of the oracle, and k."""

    def make(*size: int) -> Data:
        parameters = dict(zip(names, size, strict=True))
        instance = instance_of(ob.catalogue().problem(name, parameters), 0)
        return instance, getattr(instance.oracle, oracle), instance.oracle.k

    return make


def sklearn_pca(X: Any, k: int) -> None:
    from sklearn.decomposition import PCA

    PCA(k).fit(X)


def sklearn_covariance(X: Any, k: int) -> None:
    from sklearn.decomposition import PCA

    PCA(k, svd_solver="covariance_eigh").fit(X)


def sklearn_incremental(X: Any, k: int) -> None:
    from sklearn.decomposition import IncrementalPCA

    IncrementalPCA(k, batch_size=100).fit(X)


def sklearn_truncated(X: Any, k: int) -> None:
    from sklearn.decomposition import TruncatedSVD

    TruncatedSVD(k).fit(X)


def svds_centred(X: Any, k: int) -> None:
    from scipy.sparse.linalg import svds

    svds(X - X.mean(axis=0), k)


def svds_plain(X: Any, k: int) -> None:
    from scipy.sparse.linalg import svds

    svds(X, k)


def eigsh_of_gram(X: Any, k: int) -> None:
    from scipy.sparse.linalg import LinearOperator, eigsh

    Z = X - X.mean(axis=0)
    d = Z.shape[1]
    eigsh(LinearOperator((d, d), lambda v: Z.T @ (Z @ v), dtype=Z.dtype), k)


def lobpcg_of_gram(X: Any, k: int) -> None:
    from scipy.sparse.linalg import LinearOperator, lobpcg

    Z = X - X.mean(axis=0)
    d = Z.shape[1]
    A = LinearOperator(
        (d, d), matvec=lambda v: Z.T @ (Z @ v), matmat=lambda V: Z.T @ (Z @ V), dtype=Z.dtype
    )
    start = np.random.default_rng(0).standard_normal((d, k))
    lobpcg(A, start, tol=1e-300, maxiter=20)


def lobpcg_of_moment(X: Any, k: int) -> None:
    from scipy.sparse.linalg import lobpcg

    C = X.T @ X
    start = np.random.default_rng(0).standard_normal((len(C), k))
    lobpcg(C / C.trace(), start, tol=1e-12, maxiter=200)


def dask_tsqr(X: Any, k: int) -> None:
    import dask
    from dask.array import from_array
    from dask.array.linalg import tsqr

    with dask.config.set(scheduler="synchronous"):
        tsqr(from_array(X, chunks=(1000, X.shape[1])), compute_svd=True)[2][:k].compute()


def dask_compressed(X: Any, k: int) -> None:
    import dask
    from dask.array import from_array
    from dask.array.linalg import svd_compressed

    with dask.config.set(scheduler="synchronous"):
        chunks = from_array(X, chunks=(1000, X.shape[1]))
        svd_compressed(chunks, k, n_power_iter=2, coerce_signs=False)[2].compute()


def pymanopt_moment(X: Any, k: int) -> None:
    import pymanopt
    from pymanopt.manifolds import Grassmann
    from pymanopt.optimizers import TrustRegions

    C = X.T @ X
    C /= C.trace()
    manifold = Grassmann(len(C), k)
    numpy = pymanopt.function.numpy(manifold)
    problem = pymanopt.Problem(
        manifold, numpy(lambda U: -np.vdot(U, C @ U)),
        euclidean_gradient=numpy(lambda U: -2 * C @ U),
        euclidean_hessian=numpy(lambda _, V: -2 * C @ V),
    )  # fmt: skip
    TrustRegions(min_gradient_norm=1e-12, verbosity=0, max_iterations=200).run(problem)


def sparse(features: int, samples: int, m: int) -> Data:
    A = np.random.default_rng(0).standard_normal((features, samples))
    A -= A.mean(axis=1, keepdims=True)
    A /= np.linalg.norm(A, axis=1).max()
    return ob.sparse_pca(A.T, m, center=False), A.T, m


def sklearn_sparse(X: Any, m: int) -> int:
    from sklearn.decomposition import SparsePCA

    return int(SparsePCA(m, alpha=0.1, method="cd", max_iter=10).fit(X).n_iter_)


def sklearn_minibatch_sparse(X: Any, m: int) -> int:
    from sklearn.decomposition import MiniBatchSparsePCA

    return int(
        MiniBatchSparsePCA(m, alpha=0.1, method="cd", batch_size=100, max_iter=10).fit(X).n_iter_
    )


def tensorly_power(T: Any, n: int) -> int:
    from tensorly.decomposition import symmetric_parafac_power_iteration

    symmetric_parafac_power_iteration(T, n, n_repeat=10, n_iteration=10)
    return 10


def tensorly_hooi(T: Any, r: int) -> int:
    from tensorly.decomposition import tucker

    return len(tucker(T, [r] * T.ndim, n_iter_max=5, tol=1e-12, return_errors=True)[1])


def tensorly_hosvd(T: Any, r: int) -> None:
    from tensorly.decomposition import tucker

    tucker(T, [r] * T.ndim, n_iter_max=0)


def pyttb_hooi(T: Any, r: int) -> int:
    from pyttb import tensor, tucker_als

    info = tucker_als(tensor(T), r, init="nvecs", stoptol=0.0, maxiters=5, printitn=0)[2]
    return int(info["iters"]) + 1


def pyttb_hosvd(T: Any, r: int) -> None:
    from pyttb import hosvd, tensor

    hosvd(tensor(T), 0.0, verbosity=-1, ranks=[r] * T.ndim)


def pyttb_cp(T: Any, n: int) -> int:
    from pyttb import cp_als, tensor

    return (
        int(cp_als(tensor(T), n, init="nvecs", stoptol=0.0, maxiters=10, printitn=0)[2]["iters"])
        + 1
    )


def fast_ica(Z: Any, n: int) -> int:
    from sklearn.decomposition import FastICA

    return int(FastICA(n, whiten=False, fun="cube", max_iter=50).fit(Z).n_iter_)


def picard_o(Z: Any, n: int) -> int:
    from picard import picard

    found = picard(
        Z.T, fun="cube", ortho=True, extended=True, whiten=False, centering=False, max_iter=50,
        return_n_iter=True, w_init=np.eye(n),
    )  # fmt: skip
    return int(found[-1]) + 1


def on_stiefel(optimizer: str) -> Callable[..., int]:
    """Return the call of an optimizer of Pymanopt for a cost and its gradient."""

    def run(cost: Any, gradient: Any, hessian: Any, n: int, p: int) -> int:
        import pymanopt
        from pymanopt import optimizers
        from pymanopt.manifolds import Stiefel

        manifold = Stiefel(n, p)
        numpy = pymanopt.function.numpy(manifold)
        problem = pymanopt.Problem(
            manifold, numpy(cost), euclidean_gradient=numpy(gradient),
            euclidean_hessian=numpy(hessian),
        )  # fmt: skip
        settings = {"max_iterations": 30, "min_gradient_norm": 1e-300, "verbosity": 0}
        return int(getattr(optimizers, optimizer)(**settings).run(problem).iterations)

    return run


def procrustes(rows: int, n: int, p: int) -> Data:
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((rows, n)), rng.standard_normal((rows, p))

    def cost(U: Any) -> float:
        return float(np.linalg.norm(A @ U - B) ** 2)

    def gradient(U: Any) -> Any:
        return 2 * A.T @ (A @ U - B)

    def hessian(U: Any, V: Any) -> Any:
        return 2 * A.T @ (A @ V)

    given = ob.stiefel(cost, n=n, p=p, gradient=gradient, hessian=hessian)
    return given, cost, gradient, hessian, n, p


def pairs(n: int, p: int, k: int) -> Data:
    rng = np.random.default_rng(0)
    common = rng.standard_normal((n, k))
    X, Y = (common @ rng.standard_normal((k, p)) + rng.standard_normal((n, p)) for _ in range(2))
    return ob.cca(X, Y, k), X, Y, k


def sklearn_cca(X: Any, Y: Any, k: int) -> None:
    from sklearn.cross_decomposition import CCA

    CCA(k, scale=False).fit(X, Y)


def sklearn_plssvd(X: Any, Y: Any, k: int) -> None:
    from sklearn.cross_decomposition import PLSSVD

    PLSSVD(k, scale=False).fit(X, Y)


def square(n: int) -> Data:
    A = np.random.default_rng(0).standard_normal((n, n))
    return ob.polar(A), A


def scipy_polar(A: Any) -> None:
    from scipy.linalg import polar

    polar(A)


TALL = (2000, 50, 5), (20_000, 200, 10), (200_000, 300, 10)
NARROW = (2000, 50, 5), (20_000, 100, 5), (100_000, 100, 5)
TUCKER = (30, 4), (60, 6), (100, 8)
SQUARES = (100,), (300,), (1000,)

CALLS = (
    PlainCall("sklearn-pca", "PCA(k).fit(X)", TALL, matrix, sklearn_pca),
    PlainCall(
        "sklearn-truncated-svd", "TruncatedSVD(k).fit(X)", TALL, uncentred_matrix, sklearn_truncated
    ),
    PlainCall("scipy-svds", "svds(X - X.mean(axis=0), k)", TALL, matrix, svds_centred),
    PlainCall("scipy-eigsh", "eigsh(operator of Z'Z, k)", TALL, matrix, eigsh_of_gram),
    PlainCall(
        "scipy-lobpcg", "lobpcg(operator of Z'Z, start, maxiter=20)", TALL, matrix, lobpcg_of_gram,
        {"iterations": 20, "tolerance": 1e-200},
    ),
    PlainCall(
        "sklearn-pca", 'PCA(k, svd_solver="covariance_eigh").fit(X), of a stream', TALL, stream,
        sklearn_covariance,
    ),
    PlainCall(
        "sklearn-incremental-pca", "IncrementalPCA(k, batch_size=100).fit(X)", NARROW, stream,
        sklearn_incremental,
    ),
    PlainCall("scipy-svds", "svds(X, k), of a stream", TALL, stream, svds_plain),
    PlainCall(
        "scipy-lobpcg", "lobpcg(X.T @ X, start), of a stream", TALL, stream, lobpcg_of_moment
    ),
    PlainCall("dask-tsqr", "tsqr(X, compute_svd=True)", NARROW, stream, dask_tsqr),
    PlainCall(
        "dask-svd-compressed", "svd_compressed(X, k, n_power_iter=2)", NARROW, stream,
        dask_compressed,
    ),
    PlainCall("pymanopt-pca", "TrustRegions on Grassmann", NARROW, stream, pymanopt_moment),
    PlainCall(
        "sklearn-sparse-pca", 'SparsePCA(m, alpha=0.1, method="cd").fit(X)',
        ((50, 100, 3), (200, 400, 5), (1000, 2000, 10)), sparse, sklearn_sparse, {"gamma": 0.1},
    ),
    PlainCall(
        "sklearn-minibatch-sparse-pca", 'MiniBatchSparsePCA(m, alpha=0.1, method="cd").fit(X)',
        ((50, 100, 3), (200, 400, 5), (1000, 2000, 10)), sparse, sklearn_minibatch_sparse,
        {"gamma": 0.1},
    ),
    PlainCall(
        "tensorly-power-iteration", "symmetric_parafac_power_iteration(T, n)", ((6,), (12,), (24,)),
        built("odeco", "T", "d"), tensorly_power,
    ),
    PlainCall(
        "tensorly-tucker", "tucker(T, ranks), 5 iterations", TUCKER,
        built("random-symmetric", "T", "n", "rank"), tensorly_hooi, {"tolerance": 0.0},
    ),
    PlainCall(
        "tensorly-hosvd", "tucker(T, ranks, n_iter_max=0)", TUCKER,
        built("random-symmetric", "T", "n", "rank"), tensorly_hosvd,
    ),
    PlainCall(
        "pyttb-tucker-als", "tucker_als(tensor(T), ranks), 5 iterations", TUCKER,
        built("random-symmetric", "T", "n", "rank"), pyttb_hooi, {"tolerance": 0.0},
    ),
    PlainCall(
        "pyttb-hosvd", "hosvd(tensor(T), ranks=ranks)", TUCKER,
        built("random-symmetric", "T", "n", "rank"), pyttb_hosvd,
    ),
    PlainCall(
        "pyttb-cp-als", "cp_als(tensor(T), n), 10 iterations", ((10,), (40,), (100,)),
        built("odeco", "T", "d"), pyttb_cp, {"tolerance": 0.0},
    ),
    PlainCall(
        "sklearn-fastica", 'FastICA(n, whiten=False, fun="cube").fit(Z)',
        ((4, 2000), (10, 20_000), (20, 100_000)), built("ica", "Z", "n", "samples"), fast_ica,
    ),
    PlainCall(
        "picard-o", "picard(Z.T, ortho=True, extended=True)",
        ((4, 2000), (10, 20_000), (20, 100_000)), built("ica", "Z", "n", "samples"), picard_o,
    ),
    *(
        PlainCall(
            f"pymanopt-{words}", f"{name} on Stiefel, 30 iterations",
            ((50, 20, 3), (300, 100, 5), (2000, 1000, 10)), procrustes, on_stiefel(name),
            {"tolerance": 0.0},
        )
        for words, name in (
            ("steepest-descent", "SteepestDescent"),
            ("conjugate-gradient", "ConjugateGradient"),
            ("trust-regions", "TrustRegions"),
        )
    ),
    PlainCall(
        "sklearn-cca", "CCA(k, scale=False).fit(X, Y)",
        ((1000, 20, 3), (5000, 50, 3), (20_000, 100, 3)), pairs, sklearn_cca,
    ),
    PlainCall(
        "sklearn-plssvd", "PLSSVD(k, scale=False).fit(X, Y)",
        ((1000, 20, 3), (20_000, 100, 3), (100_000, 300, 3)), pairs, sklearn_plssvd,
    ),
    PlainCall("scipy-polar", "polar(A)", SQUARES, square, scipy_polar),
)  # fmt: skip


if __name__ == "__main__":
    for line in table(*sys.argv[1:]):
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
