"""Objects of a notebook or a script: their identity, and how they are pickled.

Their code is sent by value, and identified by the bytecode of functions and all that these use.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import pickle
import sys
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, lru_cache
from inspect import isdatadescriptor
from pathlib import Path
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, get_type_hints

from orthobench.tools.files import file_state

MADE = frozenset({
    "__doc__", "__module__", "__qualname__", "__annotations__", "__dataclass_fields__",
    "__dataclass_params__", "__match_args__", "__abstractmethods__", "_abc_impl",
    "__parameters__", "__orig_bases__", "__firstlineno__", "__static_attributes__",
    "__annotate_func__", "__annotations_cache__",
})  # fmt: skip
"""Attributes of classes that do not change what methods do."""

FUNCTIONS = ("__func__", "fget", "fset", "func")
"""Attributes of class methods and properties that are functions."""

ARGUMENTS = 0xFF
"""Mask of the flags that change what code does."""

GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")


def by_value(item: Any) -> bool:
    """Return whether other processes cannot import a class or a function."""
    module = item.__module__ or ""
    return module == "__main__" or "<" in item.__qualname__ or module not in sys.modules


def pickler() -> Any:
    """Return the module that pickles code by value."""
    try:
        import cloudpickle
    except ImportError:  # older versions of joblib, which scikit-learn needs, bring their own
        from joblib.externals import cloudpickle
    copyreg.pickle(type(cache(pickler)), _reduced)
    return cloudpickle


def _reduced(item: Any) -> Any:
    settings = item.cache_parameters()
    return (_cached, (item.__wrapped__, settings)) if by_value(item) else item.__qualname__


def _cached(function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    return lru_cache(**settings)(function)


def pickled(item: object) -> bytes:
    """Return a pickle, by value if the class cannot be imported."""
    for cls in type(item).__mro__:
        if by_value(cls):  # another process lacks the names in its annotations
            own = vars(cls).get("__annotations__", {})
            with suppress(NameError):
                cls.__annotations__ = {n: t for n, t in get_type_hints(cls).items() if n in own}
    data: bytes = (pickler() if by_value(type(item)) else pickle).dumps(item, protocol=5)
    return data


def digest_of(value: object, code_of: Callable[[str], str]) -> str:
    """Return a digest of a value: of its data, and of the code that it refers to.

    Values that cannot be read, such as generators, have a unique digest. The method
    ``content_identity`` of an object stands for its content. `code_of` returns a digest of the code
    of a module, by its name.
    """
    hashed = hashlib.sha256()
    try:
        _Digester(hashed.update, code_of).dump(value)
    except Exception:
        return uuid.uuid4().hex
    return hashed.hexdigest()


class _Digester(pickle.Pickler):
    def __init__(self, write: Callable[[Any], None], code_of: Callable[[str], str]) -> None:
        file = SimpleNamespace(write=write)
        super().__init__(file, protocol=5, buffer_callback=lambda buffer: write(buffer.raw()))
        self._code_of = code_of
        self._seen: dict[int, tuple[int, object]] = {}

    def persistent_id(self, item: Any) -> Any:
        match item:
            case ModuleType():
                return "module", item.__name__, self._code_of(item.__name__)
            case set() | frozenset():
                return "set", sorted(map(repr, item))
            case Path():
                return file_state(item)
            case classmethod() | staticmethod() | property() | cached_property():
                return type(item).__name__, [getattr(item, name, None) for name in FUNCTIONS]
            case type() | FunctionType():
                return self._code(item)
        if hasattr(type(item), "content_identity"):
            return item.content_identity()
        # functions of numba and cached ones are pickled as names
        inner = getattr(item, "py_func", None) or getattr(item, "__wrapped__", None)
        return ("wrapped", inner) if isinstance(inner, FunctionType) else None

    def _code(self, item: Any) -> Any:
        if id(item) in self._seen:
            return "seen", self._seen[id(item)][0]
        self._seen[id(item)] = len(self._seen), item
        if not by_value(item):
            return "name", item.__module__, item.__qualname__, self._code_of(item.__module__)
        return _class(item) if isinstance(item, type) else _function(item)


def _class(item: type) -> tuple[Any, ...]:
    members = {
        name: value
        for name, value in sorted(vars(item).items())
        if name not in MADE and (isinstance(value, property) or not isdatadescriptor(value))
    }
    return "class", item.__bases__, members


def _function(item: FunctionType) -> tuple[Any, ...]:
    """Return the code, defaults and closure of a function, and the globals that it reads."""
    cells = []
    for cell in item.__closure__ or ():
        with suppress(ValueError):  # it is empty
            cells.append(cell.cell_contents)
    known = item.__globals__
    read = {name: known[name] for name in sorted(_names(item.__code__)) if name in known}
    return "function", _words(item.__code__), item.__defaults__, item.__kwdefaults__, cells, read


def _words(code: CodeType) -> tuple[Any, ...]:
    """Return the meaning of code, without constants that no instruction loads: docstrings."""
    loaded = {i.arg for i in dis.get_instructions(code) if i.opcode in dis.hasconst}
    constants = [
        _words(c) if isinstance(c, CodeType) else c
        for number, c in enumerate(code.co_consts)
        if number in loaded
    ]
    return code.co_code, constants, code.co_names, code.co_argcount, code.co_flags & ARGUMENTS


def _names(code: CodeType) -> set[str]:
    own = {i.argval for i in dis.get_instructions(code) if i.opname in GLOBAL}
    return own.union(*(_names(c) for c in code.co_consts if isinstance(c, CodeType)))
