"""Arrays that count the operations done with them.

NumPy's operations count as in `orthobench.tools.flops`, and return such arrays. Kernels of numba,
and code that asks for memory, raise `UncountableError`; other libraries are not seen.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from orthobench.contract.problem import Oracle
from orthobench.tools import flops

FREE = (
    "negative", "positive", "absolute", "fabs", "sign", "copysign", "maximum", "minimum", "fmax",
    "fmin", "floor", "ceil", "rint", "trunc", "conjugate", "ldexp", "frexp", "nextafter", "spacing",
)  # fmt: skip
"""Universal functions without arithmetic that counts."""

PRODUCTS = frozenset({"matmul", "vecdot", "matvec", "vecmat"})
"""Universal functions that are products of matrices and vectors."""

MAKERS = (
    "zeros", "empty", "ones", "full", "eye", "identity", "array", "asarray",
    "ascontiguousarray", "asfortranarray", "linspace", "arange",
)  # fmt: skip
"""Functions of NumPy that make arrays, which count while counting."""

MEMORY = ("ctypes", "data", "__array_interface__", "__dlpack__", "__buffer__")
"""Attributes that give an array's memory away; the last from Python 3.12 on."""


class UncountableError(BaseException):
    """Operations that cannot be counted; no library handles a `BaseException`."""


class Tally:
    """The number of operations."""

    flops: int = 0
    paused: bool = False

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Count nothing in the body."""
        before, self.paused = (self.flops, self.paused), True
        try:
            yield
        finally:
            self.flops, self.paused = before


_tally = Tally()
_asarray = np.asarray


class CountingArray(np.ndarray):
    """An array, or a number from one, that counts operations."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply and count a universal function."""
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
        """Call a function; count it by its formula or its operations."""
        if func in _FORMULAE:
            plain = [_plain(item) for item in args]
            result = func(*plain, **{name: _plain(item) for name, item in kwargs.items()})
            _tally.flops += _FORMULAE[func](result, *plain)
        elif func.__module__ in ("numpy.linalg", "numpy.fft"):
            raise UncountableError(f"{func.__module__}.{func.__name__} has no formula for flops")
        else:
            result = super().__array_function__(func, types, args, kwargs)
        named = hasattr(result, "_fields")  # a tuple of several results
        return type(result)(*map(counted, result)) if named else counted(result)

    def __getitem__(self, key: Any) -> Any:
        """Return a part of the array, which counts too."""
        return counted(super().__getitem__(key))

    def dot(self, other: Any, out: Any = None) -> Any:
        """Return the product with another array, as `numpy.dot` does."""
        return np.dot(self, other, out)


def _refused_memory(name: str) -> property:
    def get(array: CountingArray) -> Any:
        if not _tally.paused:
            raise UncountableError(f"its arithmetic is done in other code than NumPy's, by {name}")
        return getattr(array.view(np.ndarray), name)

    return property(get)


for _name in MEMORY:
    setattr(CountingArray, _name, _refused_memory(_name))


def counted(item: Any) -> Any:
    """Return an array or a number of floats as one that counts; others as they are."""
    if isinstance(item, (np.ndarray, np.floating)) and item.dtype.kind == "f":
        return _asarray(item).view(CountingArray)
    return item


@contextmanager
def counting() -> Iterator[Tally]:
    """Yield a tally of operations with arrays that are `counted` or new.

    Examples
    --------
    >>> import numpy as np
    >>> from orthobench.testing import counted, counting
    >>> with counting() as tally:
    ...     product = counted(np.ones((2, 3))) @ np.ones((3, 4))
    >>> tally.flops
    48
    """
    from numba.core.dispatcher import Dispatcher

    def refuse(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        if not _tally.paused:
            raise UncountableError("its arithmetic is done in kernels compiled by numba")
        return run(kernel, *args, **kwargs)

    run, _tally.flops = Dispatcher.__call__, 0
    makers: dict[str, Any] = {name: _with_counted_result(getattr(np, name)) for name in MAKERS}
    with (
        mock.patch.multiple(np, **makers),
        mock.patch.object(Dispatcher, "__call__", refuse),
    ):
        yield _tally


@contextmanager
def counting_oracle(oracle: Oracle) -> Iterator[tuple[Tally, Callable[[], None]]]:
    """Yield a tally, and a function after which the arrays of an oracle count.

    Its samples and properties do not, except for `forming_flops` of those first read.
    """
    attributes, cls = dict(vars(oracle)), type(oracle)
    formed: set[str] = set()

    def read(oracle: Any, name: str) -> Any:
        with _tally.pause():
            value = counted(cls.__getattribute__(oracle, name))
        if name in ("prepare", "take"):
            return _tally.pause()(lambda count: counted(value(count)))
        own = getattr(cls, name, None)
        if isinstance(own, property) and isinstance(value, np.ndarray) and name not in formed:
            formed.add(name)
            _tally.flops += getattr(oracle, "forming_flops", 0)
        return value

    def begin() -> None:
        oracle.__class__ = type(cls.__name__, (cls,), {"__getattribute__": read})
        _tally.flops = 0

    try:
        with counting() as tally:
            yield tally, begin
    finally:
        oracle.__class__ = cls
        vars(oracle).clear()
        vars(oracle).update(attributes)


def _plain(item: Any) -> Any:
    return item.view(np.ndarray) if isinstance(item, CountingArray) else item


def _operations(name: str, method: str, inputs: list[Any], result: Any) -> int:
    """Return the number of operations that a universal function did."""
    results = result if isinstance(result, tuple) else (result,)
    size = sum(np.size(item) for item in results if _asarray(item).dtype.kind == "f")
    if not size:
        return 0
    if name in PRODUCTS:
        return 2 * size * int(np.shape(inputs[0])[-1])
    if method == "reduce":
        return int(np.size(inputs[0])) - size
    return size


def _with_counted_result(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return counted(function(*args, **kwargs))

    return call


def _product(result: Any, a: Any, b: Any, *_: Any) -> int:
    """Return 2MKN for matrices of MK, KN and MN entries."""
    return 2 * math.isqrt(int(np.size(a) * np.size(b) * np.size(result)))


def _einsum(_: Any, subscripts: Any, *operands: Any) -> int:
    """Return an operation for each operand and tuple of indices, in a string without dots."""
    sizes: dict[str, int] = {}
    for term, operand in zip(subscripts.partition("->")[0].split(","), operands, strict=True):
        sizes |= zip(term.strip(), np.shape(operand), strict=True)
    return len(operands) * math.prod(sizes.values())


def _stacked(formula: Callable[[int, int], int]) -> Callable[..., int]:
    """Return a formula for a stack of matrices from that for one (m, n)."""

    def count(_: Any, A: Any, *__: Any) -> int:
        return int(math.prod(A.shape[:-2])) * formula(*A.shape[-2:])

    return count


def _squares(_: Any, A: Any, *__: Any) -> int:
    return 2 * int(np.size(A))


_FORMULAE: dict[Any, Callable[..., int]] = {
    np.dot: _product,
    np.vdot: _squares,
    np.inner: _product,
    np.tensordot: _product,
    np.outer: lambda result, *_: np.size(result),
    np.einsum: _einsum,
    np.linalg.norm: _squares,
    np.linalg.vector_norm: _squares,
    np.linalg.matrix_norm: _squares,
    np.linalg.diagonal: lambda *_: 0,
    np.linalg.matrix_transpose: lambda *_: 0,
    np.linalg.trace: lambda result, A, *_: len(A[-1]) * np.size(result),
    np.linalg.qr: _stacked(lambda m, n: flops.qr(max(m, n), min(m, n))),
    np.linalg.svd: _stacked(flops.svd),
    np.linalg.eigh: _stacked(lambda n, _: flops.eigh(n)),
    np.linalg.eigvalsh: _stacked(lambda n, _: 4 * n**3 // 3),
    np.linalg.cholesky: _stacked(lambda n, _: n**3 // 3),
    np.linalg.inv: _stacked(lambda n, _: 2 * n**3),
    np.linalg.solve: lambda _, A, b: 2 * len(A) ** 3 // 3 + 2 * len(A) * int(np.size(b)),
}
"""Flops of functions of NumPy, as ``formula(result, *arguments)``."""
