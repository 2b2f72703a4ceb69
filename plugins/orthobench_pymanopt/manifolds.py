"""Pymanopt's manifolds, with the flops of their operations counted."""

from __future__ import annotations

from functools import wraps
from typing import Any

from orthobench.contract import flops


class FlopCounter:
    """A count of flops.

    Attributes
    ----------
    counted : int
        Flops so far.
    """

    def __init__(self) -> None:
        self.counted = 0


def grassmann(n: int, k: int, counter: FlopCounter) -> Any:
    """Return Grassmann(n, k), which counts its flops.

    Parameters
    ----------
    n, k : int
    counter : FlopCounter
        Its `counted` goes up with each operation.

    Notes
    -----
    4nk² + nk flops for a projection, 4nk² + nk for a Hessian, 2nk for an inner product; for a
    retraction 2nk for its argument, an SVD and 2nk² for its product. The four combinations of
    vectors in an inner iteration of trust regions, 8nk, are counted with its Hessian.
    """
    from pymanopt.manifolds import Grassmann

    size, product = n * k, flops.gemm(n, k, k)
    operations = {
        "inner_product": 2 * size,
        "projection": 2 * product + size,
        "euclidean_to_riemannian_hessian": 2 * product + 9 * size,
        "retraction": 2 * size + flops.svd(n, k) + product,
    }
    return _counting(Grassmann(n, k), operations, counter)


def stiefel(n: int, p: int, counter: FlopCounter) -> Any:
    """Return Stiefel(n, p), which counts its flops.

    Parameters
    ----------
    n, p : int
        p = n is the orthogonal group.
    counter : FlopCounter
        Its `counted` goes up with each operation.

    Notes
    -----
    4np² + 2p² + np flops for a projection; 4n²p + 4np² + 2p² + np for a Weingarten map, in which
    Pymanopt multiplies n by n matrices; 2np for an inner product; 2np for the argument of a
    retraction, and a QR decomposition. The four combinations of vectors in an inner iteration of
    trust regions, 8np, are counted with its Hessian.
    """
    from pymanopt.manifolds import Stiefel

    size, product = n * p, flops.gemm(n, p, p)
    projection = 2 * product + 2 * p * p + size
    operations = {
        "inner_product": 2 * size,
        "norm": 2 * size,
        "projection": projection,
        "to_tangent_space": projection,
        "weingarten": 2 * flops.gemm(n, n, p) + 2 * product + 2 * p * p + size,
        "euclidean_to_riemannian_hessian": 8 * size + 2 * p * p,
        "retraction": 2 * size + flops.qr(n, p),
    }
    return _counting(Stiefel(n, p), operations, counter)


def _counting(manifold: Any, operations: dict[str, int], counter: FlopCounter) -> Any:
    """Let operations count their own flops, without those of the operations that they call."""

    def counted(operation: Any, count: int) -> Any:
        @wraps(operation)
        def counting(*args: Any) -> Any:
            counter.counted += count
            return operation(*args)

        return counting

    for name, count in operations.items():
        setattr(manifold, name, counted(getattr(manifold, name), count))
    return manifold
