"""Pymanopt's manifolds, which count their flops."""

from __future__ import annotations

from functools import wraps
from typing import Any

from orthobench.contract import flops


class FlopCounter:
    """A count of flops."""

    def __init__(self) -> None:
        self.counted = 0


def grassmann(n: int, k: int, counter: FlopCounter) -> Any:
    """Return Grassmann(n, k), whose operations add to `counter`.

    4nk² + nk flops for a projection or a Hessian, 2nk for an inner product; 2nk, an SVD and 2nk²
    for a retraction. The vector sums of an inner iteration of trust regions, 8nk, are counted with
    its Hessian.
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
    """Return Stiefel(n, p), whose operations add to `counter`.

    4np² + 2p² + np flops for a projection; 4n²p + 4np² + 2p² + np for a Weingarten map; 2np for an
    inner product; 2np and a QR decomposition for a retraction. The vector sums of an inner
    iteration of trust regions, 8np, are counted with its Hessian.
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
    def counted(operation: Any, count: int) -> Any:
        @wraps(operation)
        def counting(*args: Any) -> Any:
            counter.counted += count
            return operation(*args)

        return counting

    for name, count in operations.items():
        setattr(manifold, name, counted(getattr(manifold, name), count))
    return manifold
