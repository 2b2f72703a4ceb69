"""An array that counts what is done with it, by the convention of `orthobench.tools.flops`.

Operations of NumPy on such arrays are counted, and give such arrays. What NumPy does not see
cannot be: while counting, kernels of numba, and functions of scipy.linalg and scipy.sparse.linalg
(LAPACK, ARPACK) that are given such an array, raise `Escaped`, whichever library calls them.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np

from orthobench.tools import flops

FREE = (
    "negative", "positive", "absolute", "fabs", "sign", "copysign", "maximum", "minimum", "fmax",
    "fmin", "floor", "ceil", "rint", "trunc", "conjugate", "ldexp", "frexp", "nextafter", "spacing",
)  # fmt: skip
"""Universal functions that take no addition, multiplication, division or square root."""

PRODUCTS = frozenset({"matmul", "vecdot", "matvec", "vecmat"})

MAKERS = (
    "zeros", "empty", "ones", "full", "eye", "identity", "array", "asarray",
    "ascontiguousarray", "asfortranarray", "linspace", "arange",
)  # fmt: skip
"""Functions of NumPy that make arrays of anything: while counting they make arrays that count."""

DRAWS = ("standard_normal", "normal", "random", "uniform", "exponential", "standard_exponential")


class Escaped(BaseException):
    """Arithmetic that cannot be counted; says where it is done.

    No `Exception`, so that libraries that handle those of what they call let it pass.
    """


@dataclass
class Tally:
    """What has been counted.

    Attributes
    ----------
    flops : int
        May be set to zero on the way.
    paused : bool
        Whether what is done is not to be counted.
    """

    flops: int = 0
    paused: bool = False

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Count nothing meanwhile."""
        before, self.paused = self.flops, True
        try:
            yield
        finally:
            self.flops, self.paused = before, False


_tally = Tally()
_asarray, _default_rng = np.asarray, np.random.default_rng


class Counted(np.ndarray):
    """An array, and numbers taken from it, that count the operations done with them."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Do and count the operation."""
        plain = [_plain(item) for item in inputs]
        if "out" in kwargs:
            kwargs["out"] = tuple(_plain(item) for item in kwargs["out"])
        result = getattr(ufunc, method)(*plain, **kwargs)
        if ufunc.__name__ not in FREE:
            _tally.flops += _operations(ufunc.__name__, method, plain, result)
        if "out" in kwargs and isinstance(kwargs["out"][0], np.ndarray):
            return inputs[0] if kwargs["out"][0] is plain[0] else counted(result)
        return counted(result)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Count what is known as a whole by its formula; of anything else, what it does."""
        if func in _FORMULAE:
            args, kwargs = _stripped(args), _stripped(kwargs)
            result = func(*args, **kwargs)
            _tally.flops += _FORMULAE[func](result, *args)
            return _wrapped(result)
        if func.__module__ in ("numpy.linalg", "numpy.fft"):
            raise Escaped(f"{func.__module__}.{func.__name__} is a function that is not counted")
        return _wrapped(super().__array_function__(func, types, args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        """Return a part of it, which counts too."""
        return counted(super().__getitem__(key))

    def dot(self, other: Any, out: Any = None) -> Any:
        """Return the product, as `numpy.dot`."""
        return np.dot(self, other, out)


def counted(item: Any) -> Any:
    """Return floating-point arrays and numbers as ones that count, anything else as it is."""
    if isinstance(item, (np.ndarray, np.floating)) and item.dtype.kind == "f":
        return _asarray(item).view(Counted)
    return item


@contextmanager
def counting() -> Iterator[Tally]:
    """Give a tally of what is done meanwhile with arrays that are `counted`, or made by NumPy.

    Examples
    --------
    >>> import numpy as np
    >>> from orthobench.testing.counted import counted, counting
    >>> with counting() as tally:
    ...     product = counted(np.ones((2, 3))) @ np.ones((3, 4))
    >>> tally.flops
    48
    """
    _tally.flops = 0
    makers = {name: _making(getattr(np, name)) for name in MAKERS}
    with (
        _replaced(np, makers),
        _replaced(np.random, {"default_rng": _drawing}),
        _kernels_refused(),
        _scipy_refused(),
    ):
        yield _tally


@contextmanager
def _replaced(owner: Any, attributes: Mapping[str, Any]) -> Iterator[None]:
    """Replace attributes of a module meanwhile."""
    before = {name: getattr(owner, name) for name in attributes}
    try:
        for name, value in attributes.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def _plain(item: Any) -> Any:
    return item.view(np.ndarray) if isinstance(item, Counted) else item


def _stripped(item: Any) -> Any:
    if isinstance(item, (list, tuple)):
        return type(item)(_stripped(part) for part in item)
    if isinstance(item, dict):
        return {key: _stripped(part) for key, part in item.items()}
    return _plain(item)


def _wrapped(result: Any) -> Any:
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*map(counted, result))
    if isinstance(result, (list, tuple)):
        return type(result)(counted(part) for part in result)
    return counted(result)


def _operations(name: str, method: str, inputs: list[Any], result: Any) -> int:
    """Return how many operations a universal function took."""
    results = result if isinstance(result, tuple) else (result,)
    size = sum(np.size(item) for item in results if _asarray(item).dtype.kind == "f")
    if not size:
        return 0
    if name in PRODUCTS:
        return 2 * size * int(np.shape(inputs[0])[-1])
    if method == "reduce":
        return int(np.size(inputs[0])) - size
    if method == "at":
        return int(np.size(inputs[-1]))
    return size


def _making(maker: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(maker)
    def make(*args: Any, **kwargs: Any) -> Any:
        return counted(maker(*args, **kwargs))

    return make


class _Drawing(np.random.Generator):
    """A generator whose numbers count."""


for _name in DRAWS:
    setattr(_Drawing, _name, _making(getattr(np.random.Generator, _name)))


def _drawing(seed: Any = None) -> np.random.Generator:
    return _Drawing(_default_rng(seed).bit_generator)


@contextmanager
def _kernels_refused() -> Iterator[None]:
    """Let kernels that numba compiled refuse to run, since they cannot be counted."""
    from numba.core.dispatcher import Dispatcher

    run = Dispatcher.__call__

    def guarded(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if not _tally.paused:
            raise Escaped("its arithmetic is done in kernels compiled by numba")
        return run(kernel, *args, **kwargs)

    with mock.patch.object(Dispatcher, "__call__", guarded):
        yield


@contextmanager
def _scipy_refused() -> Iterator[None]:
    """Let the linear algebra of SciPy refuse arrays that count, also where others imported it."""
    guards = _guards()
    with ExitStack() as stack:
        for module in list(sys.modules.values()):
            held = getattr(module, "__dict__", {})
            if not guards.keys().isdisjoint(map(id, held.values())):
                bound = {name: guards[id(f)] for name, f in held.items() if id(f) in guards}
                stack.enter_context(_replaced(module, bound))
        yield


@functools.cache
def _guards() -> dict[int, Callable[..., Any]]:
    """Return what refuses in place of each function, by its id."""
    from scipy import linalg
    from scipy.sparse import linalg as sparse

    owners = (linalg, linalg.blas, linalg.lapack, sparse)
    return {id(f): _guard(f, m.__name__) for m in reversed(owners) for f in _functions(m)}


def _functions(module: ModuleType) -> list[Callable[..., Any]]:
    functions = (value for name, value in vars(module).items() if name[0] != "_")
    return [f for f in functions if callable(f) and not isinstance(f, type)]


def _guard(function: Callable[..., Any], where: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        if not _tally.paused and any(isinstance(arg, Counted) for arg in given):
            raise Escaped(f"its arithmetic is done in {where}")
        return function(*args, **kwargs)

    return guarded


def _product(result: Any, a: Any, b: Any, *_: Any) -> int:
    """Return 2 M K N, from the sizes MK, KN and MN."""
    return 2 * math.isqrt(int(np.size(a) * np.size(b) * np.size(result)))


def _einsum(result: Any, subscripts: Any, *operands: Any) -> int:
    """Return a multiplication and an addition for each index tuple and operand but the first."""
    if not isinstance(subscripts, str) or "." in subscripts:
        raise Escaped("numpy.einsum is only counted with its indices in a string, without dots")
    terms = subscripts.replace(" ", "").partition("->")[0].split(",")
    sizes = {
        index: n
        for term, x in zip(terms, operands, strict=True)
        for index, n in zip(term, np.shape(x), strict=True)
    }
    every = math.prod(sizes.values())
    return int(len(operands) * every - (np.size(result) if len(operands) == 1 else 0))


def _stacked(formula: Callable[[int, int], int]) -> Callable[..., int]:
    """Return the count for a stack of matrices from the formula for one (m, n)."""

    def count(_: Any, A: Any, *__: Any) -> int:
        return int(math.prod(A.shape[:-2])) * formula(*A.shape[-2:])

    return count


def _outer(result: Any, *_: Any) -> int:
    return int(np.size(result))


def _squares(_: Any, A: Any, *__: Any) -> int:
    return 2 * int(np.size(A))


_FORMULAE: dict[Any, Callable[..., int]] = {
    np.dot: lambda result, a, b, *_: (
        _product(result, a, b) if np.ndim(a) and np.ndim(b) else int(np.size(result))
    ),
    np.vdot: lambda _, a, *__: 2 * int(np.size(a)),
    np.inner: _product,
    np.tensordot: _product,
    np.outer: _outer,
    np.kron: _outer,
    np.einsum: _einsum,
    np.trace: lambda result, A, *_: min(np.shape(A)[-2:]) * int(np.size(result)),
    np.linalg.norm: _squares,
    np.linalg.qr: _stacked(lambda m, n: flops.qr(max(m, n), min(m, n))),
    np.linalg.svd: _stacked(flops.svd),
    np.linalg.eigh: _stacked(lambda n, _: flops.eigh(n)),
    np.linalg.eigvalsh: _stacked(lambda n, _: 4 * n**3 // 3),
    np.linalg.cholesky: _stacked(lambda n, _: n**3 // 3),
    np.linalg.inv: _stacked(lambda n, _: 2 * n**3),
    np.linalg.solve: lambda _, A, b: 2 * len(A) ** 3 // 3 + 2 * len(A) * int(np.size(b)),
}
"""What functions of NumPy take, as `orthobench.tools.flops` counts factorizations."""
