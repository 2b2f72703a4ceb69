"""Pymanopt's manifolds, with the flops of what they do counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from orthobench.contract import flops


class Meter:
    """A count of flops.

    Attributes
    ----------
    counted : int
        So far.
    """

    def __init__(self) -> None:
        self.counted = 0


def grassmann(n: int, k: int, meter: Meter) -> Any:
    """Return Grassmann(n, k), which counts.

    Notes
    -----
    4nk² + nk flops for a projection, 4nk² + nk more for a Hessian, 2nk for an inner product,
    2nk for a retraction's argument and a polar decomposition with its product, 2nk². The four
    combinations of vectors, 8nk, that an inner iteration of trust regions makes are counted with
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
    return _counting(Grassmann(n, k), operations, meter)


def orthogonal(n: int, meter: Meter) -> Any:
    """Return Stiefel(n, n), which counts.

    Notes
    -----
    4n³ + 3n² flops for a projection, 8n³ + 3n² for a Weingarten map, 2n² for an inner product,
    2n² for a retraction's argument and a QR decomposition. The four combinations of vectors, 8n²,
    that an inner iteration of trust regions makes are counted with its Hessian.
    """
    from pymanopt.manifolds import Stiefel

    size, product = n * n, flops.gemm(n, n, n)
    projection = 2 * product + 3 * size
    operations = {
        "inner_product": 2 * size,
        "norm": 2 * size,
        "projection": projection,
        "to_tangent_space": projection,
        "weingarten": 4 * product + 3 * size,
        "euclidean_to_riemannian_hessian": 10 * size,
        "retraction": 2 * size + flops.qr(n, n),
    }
    return _counting(Stiefel(n, n), operations, meter)


def _counting(manifold: Any, operations: dict[str, int], meter: Meter) -> Any:
    """Let operations count, each without those that it calls."""
    for name, count in operations.items():
        setattr(manifold, name, _adding(getattr(manifold, name), count, meter))
    return manifold


def _adding(operation: Callable[..., Any], count: int, meter: Meter) -> Callable[..., Any]:
    @wraps(operation)
    def counting(*args: Any) -> Any:
        meter.counted += count
        return operation(*args)

    return counting
