"""The maker of functions of orthonormal columns."""

from __future__ import annotations

import numpy as np
from orthobench_kit.reading import array_of, real

from orthobench.contract.problem import Instance, unchanged
from orthobench.errors import DataError, UsageError
from orthobench.tools.arrays import Array, whole
from orthobench.tools.geometry import drift, random_point
from orthobench_stiefel.autodiff import differentiated
from orthobench_stiefel.functions import FunctionOracle, check_functions
from orthobench_stiefel.judge import (
    Judge,
    feasible,
    unit,
    violation,
    with_determinant,
)
from orthobench_stiefel.oracle import Cost, Gradient, Hessian, StiefelOracle
from orthobench_stiefel.result import point

START_DEFECT = 1e-8
"""Maximum |X'X - I|_F of a start."""


def stiefel(
    cost: Cost,
    gradient: Gradient | None = None,
    *,
    n: int,
    p: int,
    hessian: Hessian | None = None,
    start: Array | None = None,
    best: float | None = None,
) -> Instance[StiefelOracle]:
    """Make an instance of your own function of orthonormal columns, to be minimized.

    Parameters
    ----------
    cost : callable
        Maps X (n, p) with X'X = I to a finite number, without writing into X. Methods that leave
        the manifold, such as `landing`, also evaluate it nearby. A cost for torch or jax gets
        64-bit floats on the CPU, or at the place of a solver's `on`.
    gradient : callable, optional
        Maps X to the matrix (n, p) of partial derivatives of the cost, not projected [default:
        automatic, for torch and jax]. All solvers except `givens` need it.
    n, p : int
        Rows and columns of X, 1 <= p <= n. For p = n see `orthobench.orthogonal_group`.
    hessian : callable, optional
        Maps X and a direction V (n, p) to the derivative of the gradient at X along V, not
        projected; for `pymanopt-trust-regions`.
    start : ndarray, shape (n, p), optional
        Orthonormal columns [default: a random point for each seed].
    best : float, optional
        The minimum of the cost. Without it there is no ``objective_gap``.

    Returns
    -------
    Instance
        With the metrics of `orthobench_stiefel.Judge`, and ``determinant`` if X is square. A point
        off the manifold is judged, and returned, as the nearest point on it.

    Raises
    ------
    UsageError
        If n, p or the start is invalid; if the cost is not finite there, or writes into X; or if a
        derivative has a wrong shape, is not finite, or disagrees with differences.

    Notes
    -----
    Making it takes one evaluation of the cost; with a gradient, twelve more, and two of the
    gradient; with a Hessian, thirteen more of the gradient, and one of the Hessian. Each value,
    gradient, value with gradient or Hessian product counts as a sample.

    Examples
    --------
    The two leading eigenvectors of A:

    >>> import numpy as np, orthobench as ob
    >>> A = np.diag([5.0, 4.0, 2.0, 1.0, 0.0])
    >>> def cost(X):
    ...     return -float(np.sum(X * (A @ X)))
    >>> def gradient(X):
    ...     return -2 * A @ X
    >>> X = ob.solve("riemannian-gradient", ob.stiefel(cost, gradient, n=5, p=2)).solution
    >>> bool(np.isclose(cost(X), -9.0))
    True
    """
    rows, columns = _sizes(n, p)
    shape = rows, columns
    first = None if start is None else _start(start, shape)
    X = random_point(*shape, np.random.default_rng(0)) if first is None else first
    automatic = differentiated(cost, X, gradient)
    if automatic is not None:
        hessian = None if hessian is None else automatic.product(hessian)
        cost, gradient = automatic, automatic.gradient
    where = f"a random orthonormal {shape} matrix" if first is None else "the start"
    check_functions(cost, gradient, best, X, "X", where, hessian)
    both = None if automatic is None else automatic.both
    square = rows == columns
    components = 0 if square and first is None else None
    oracle = FunctionOracle(cost, rows, columns, gradient, first, both, components, hessian)
    gap = None if best is None else lambda X: cost(X) - best
    further = with_determinant if square else None
    judge = Judge(cost, gap, gradient, 1.0 if gradient is None else unit(oracle), further)
    known = {} if best is None else {"objective_gap": 0.0, "objective": float(best)}
    return Instance(oracle, judge, known, violation, unchanged, finish=feasible, result=point)


def _sizes(n: object, p: object) -> tuple[int, int]:
    rows, columns = whole(n, "n"), whole(p, "p")
    if columns > rows:
        raise UsageError(f"p = {columns} columns of n = {rows} rows cannot be orthonormal: p <= n")
    return rows, columns


def _start(start: object, shape: tuple[int, int]) -> Array:
    try:
        X = real(array_of(start, "the entries of start"), "the entries of start").copy()
    except DataError as error:
        raise UsageError(str(error)) from None
    if X.shape != shape:
        raise UsageError(f"start must be a matrix of shape {shape}, not of shape {X.shape}")
    defect = drift(X)
    if not defect <= START_DEFECT:
        raise UsageError(
            f"start is off the manifold: |X'X - I| is {defect:.2g}; pass orthonormal columns, "
            "such as numpy.linalg.qr(start)[0]"
        )
    X.flags.writeable = False
    return X
