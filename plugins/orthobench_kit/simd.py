"""SIMD in compiled kernels: vectors of sixteen doubles.

Numba does not vectorize loops with branches. Arithmetic and comparisons of these vectors work lane
by lane, also with a float, and `where` replaces a branch. Products and sums may be fused.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils

COUNT = 16
"""Lanes of a vector: two registers of 512 bits."""

_numba: Any = extending  # its type annotations are incomplete
_declared: Any = cgutils.get_or_insert_function

_FUSED = ("contract",)
_DOUBLES = ir.VectorType(ir.DoubleType(), COUNT)
_BITS = ir.VectorType(ir.IntType(1), COUNT)


Lanes = Any
"""A vector of sixteen doubles, for type annotations."""


class _Lanes(types.Type):
    """Numba's type of a vector of doubles."""


class _Bits(types.Type):
    """Numba's type of a mask: a vector of truth values."""


_lanes, _bits = _Lanes("Lanes"), _Bits("Bits")
_OPERANDS = (_lanes, types.float64)


def _register(kind: Any, vector: Any) -> None:
    """Register the LLVM type of a type of numba."""
    _numba.register_model(kind)(
        lambda manager, of: _numba.models.PrimitiveModel(manager, of, vector)
    )


def _spread(builder: Any, value: Any) -> Any:
    """Return a float in all lanes, and a vector as it is."""
    if value.type == _DOUBLES:
        return value
    undefined, index = ir.Constant(_DOUBLES, ir.Undefined), ir.IntType(32)
    one = builder.insert_element(undefined, value, ir.Constant(index, 0))
    zeros = ir.Constant(ir.VectorType(index, COUNT), None)
    return builder.shuffle_vector(one, undefined, zeros)


def _binary(function: Any, result: Any, emit: Callable[[Any, Any, Any], Any]) -> None:
    """Define an operator for two vectors, and for a vector and a float."""

    def typer(a: Any, b: Any) -> Any:
        return result if _lanes in (a, b) and a in _OPERANDS and b in _OPERANDS else None

    def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return emit(builder, *(_spread(builder, value) for value in args))

    _numba.type_callable(function)(lambda _context: typer)
    for operands in [(_lanes, _lanes), (_lanes, types.float64), (types.float64, _lanes)]:
        _numba.lower_builtin(function, *operands)(lower)


def _logical(function: Any, emit: Callable[[Any, Any, Any], Any]) -> None:
    """Define an operator for two masks."""

    def typer(a: Any, b: Any) -> Any:
        return _bits if a == b == _bits else None

    def lower(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return emit(builder, *args)

    _numba.type_callable(function)(lambda _context: typer)
    _numba.lower_builtin(function, _bits, _bits)(lower)


_register(_Lanes, _DOUBLES)
_register(_Bits, _BITS)
_binary(operator.add, _lanes, lambda builder, a, b: builder.fadd(a, b, flags=_FUSED))
_binary(operator.sub, _lanes, lambda builder, a, b: builder.fsub(a, b, flags=_FUSED))
_binary(operator.mul, _lanes, lambda builder, a, b: builder.fmul(a, b, flags=_FUSED))
_binary(operator.truediv, _lanes, lambda builder, a, b: builder.fdiv(a, b))
_binary(operator.lt, _bits, lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_binary(operator.le, _bits, lambda builder, a, b: builder.fcmp_ordered("<=", a, b))
_binary(operator.gt, _bits, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_binary(operator.ge, _bits, lambda builder, a, b: builder.fcmp_ordered(">=", a, b))
_binary(operator.eq, _bits, lambda builder, a, b: builder.fcmp_ordered("==", a, b))
_logical(operator.and_, lambda builder, a, b: builder.and_(a, b))
_logical(operator.or_, lambda builder, a, b: builder.or_(a, b))


def _emitted(typed: Callable[..., Any]) -> Any:
    """Make a function for kernels from one that returns its signature and its code generator."""
    return _numba.intrinsic(typed)


def _code(emit: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return a code generator from a function of the builder and the arguments alone."""
    return lambda _context, builder, _signature, args: emit(builder, args)


def _called(name: str, result: Any, *before: Any, **options: Any) -> Callable[..., Any]:
    """Return a code generator that calls a function of LLVM with a vector, after constants."""

    def emit(builder: Any, args: Any) -> Any:
        kinds = [constant.type for constant in before]
        kind = ir.FunctionType(result, [*kinds, _DOUBLES])
        function = _declared(builder.module, kind, f"llvm.{name}.v{COUNT}f64")
        return builder.call(function, [*before, *args], **options)

    return _code(emit)


@_emitted
def fill(_typing: Any, _value: Any) -> Any:
    """Return a float in all lanes."""
    return _lanes(types.float64), _code(lambda builder, args: _spread(builder, args[0]))


@_emitted
def load(_typing: Any, array: Any, _first: Any) -> Any:
    """Return the entries first, ..., first + 15 of a contiguous array."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, signature, args), align=8)

    return _lanes(array, types.intp), lower


@_emitted
def store(_typing: Any, array: Any, _first: Any, _value: Any) -> Any:
    """Set the entries first, ..., first + 15 of a contiguous array."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, signature, args), align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, _lanes), lower


@_emitted
def prefetch(_typing: Any, array: Any, _first: Any) -> Any:
    """Prefetch the entries first, ..., first + 15 of an array; they may lie outside of it."""

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        function = _declared(builder.module, kind, "llvm.prefetch.p0i8")
        # for reading, into the second-level cache, as data
        hints = [ir.Constant(word, hint) for hint in (0, 2, 1)]
        place = context.make_array(signature.args[0])(context, builder, args[0]).data
        for line in (0, 8):
            at = builder.gep(place, [builder.add(args[1], ir.Constant(args[1].type, line))])
            builder.call(function, [builder.bitcast(at, byte), *hints])
        return context.get_dummy_value()

    return types.none(array, types.intp), lower


def _address(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, args[0])
    return builder.bitcast(builder.gep(array.data, [args[1]]), _DOUBLES.as_pointer())


@_emitted
def where(_typing: Any, _mask: Any, a: Any, b: Any) -> Any:
    """Return a in lanes with a true mask, and b in the others."""

    def emit(builder: Any, args: Any) -> Any:
        return builder.select(args[0], _spread(builder, args[1]), _spread(builder, args[2]))

    return _lanes(_bits, a, b), _code(emit)


@_emitted
def every(_typing: Any, _mask: Any) -> Any:
    """Return whether the mask is true in all lanes."""

    def emit(builder: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(COUNT))
        return builder.icmp_unsigned("==", bits, ir.Constant(bits.type, 2**COUNT - 1))

    return types.boolean(_bits), _code(emit)


@_emitted
def bits(_typing: Any, _mask: Any) -> Any:
    """Return a mask as an integer whose lowest bit is that of the first lane."""

    def emit(builder: Any, args: Any) -> Any:
        return builder.zext(builder.bitcast(args[0], ir.IntType(COUNT)), ir.IntType(64))

    return types.int64(_bits), _code(emit)


@_emitted
def lowest_bit(_typing: Any, _integer: Any) -> Any:
    """Return the position of the lowest set bit of an integer, 64 without any."""
    zero = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), _code(lambda builder, args: builder.cttz(args[0], zero))


@_emitted
def count_bits(_typing: Any, _integer: Any) -> Any:
    """Return the number of set bits of an integer."""
    return types.int64(types.int64), _code(lambda builder, args: builder.ctpop(args[0]))


@_emitted
def total(_typing: Any, _a: Any) -> Any:
    """Return the sum of the lanes, in any order."""
    double = ir.DoubleType()
    add = _called("vector.reduce.fadd", double, ir.Constant(double, -0.0), fastmath=("reassoc",))
    return types.float64(_lanes), add


@_emitted
def largest(_typing: Any, _a: Any) -> Any:
    """Return the largest of the lanes, none of which may be NaN."""
    return types.float64(_lanes), _called("vector.reduce.fmax", ir.DoubleType())


@_emitted
def magnitude(_typing: Any, _a: Any) -> Any:
    """Return the absolute value in each lane."""
    return _lanes(_lanes), _called("fabs", _DOUBLES)


@_emitted
def root(_typing: Any, _a: Any) -> Any:
    """Return the square root in each lane."""
    return _lanes(_lanes), _called("sqrt", _DOUBLES)
