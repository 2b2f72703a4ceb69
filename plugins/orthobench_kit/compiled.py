"""Decorators that compile kernels with numba, and the cache of the machine code.

Import this only in modules of kernels: numba loads slowly. Division follows IEEE 754.

Numba's cache does not notice changes of kernels in other files, nor of its own options. So the
cache of each package lies in a folder named by a digest of its sources, of the modules here that
kernels use, and of the options. Two processes that compile the same kernel could mix up its files,
so each kernel has a lock.

A kernel that other kernels call is also compiled for them as LLVM's intermediate code alone, which
halves the time of compilation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.types import unliteral

from orthobench.tools import flops
from orthobench.tools.files import locked

F = TypeVar("F", bound=Callable[..., Any])

config: Any = numba.config


def kernel(function: F) -> F:
    """Compile a kernel, which Python and other kernels call."""
    return _compiled(function)


def summed(function: F) -> F:
    """Compile a kernel whose sums may be taken in any order, so that they are vectorized."""
    return _compiled(function, fastmath={"reassoc", "contract"})


@cache
def cache_folder(package: str) -> str:
    """Return the cache folder of a top-level package; without sources numba's default."""
    try:
        spec = find_spec(package)
    except ValueError:  # a script has no spec
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        return str(config.CACHE_DIR)
    here = Path(folders[0])
    sources = hashlib.sha256(repr((config.OPT, config.BOUNDSCHECK)).encode())
    shared = [*map(Path(__file__).with_name, ("compiled.py", "simd.py")), Path(flops.__file__)]
    for path in (*shared, *sorted(here.rglob("*.py"))):
        sources.update(path.read_bytes())
    base = Path(config.CACHE_DIR) if config.CACHE_DIR else here / "__pycache__"
    return str(base / f"kernels-{sources.hexdigest()[:16]}")


class _IntermediateCode(JITCodeLibrary):
    """The code of a kernel for the kernels that call it; only environments get machine code."""

    def _optimize_final_module(self) -> None:
        """Leave this to the callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True
        self._get_module_for_linking()
        variables = self._final_module.global_variables
        environments = [str(one) for one in variables if one.name.startswith("_ZN08NumbaEnv")]
        self._final_module = llvm.parse_assembly("\n".join(environments))
        super()._finalize_final_module()


class _Linked(Compiler):
    """Numba's compiler for intermediate code."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        self.state.library = _IntermediateCode(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


def _compiled(function: F, **options: Any) -> F:
    """Return the kernel, compiled on first call from Python, and apart for kernels that call it."""

    @cache
    def linked() -> Any:
        apart = {"no_cpython_wrapper": True, "pipeline_class": _Linked}
        return _kept("linked", function, **options, **apart)

    def template(args: Any, kws: Any) -> Any:
        # numba would compile a kernel again for each constant argument
        return linked().get_call_template(
            [unliteral(kind) for kind in args], {k: unliteral(kind) for k, kind in kws.items()}
        )

    compiled = _kept("", function, **options)
    compiled.get_call_template = template
    compiled.get_overload = lambda signature: linked().get_overload(signature)
    return cast(F, compiled)


def _kept(subfolder: str, function: Any, **options: Any) -> Any:
    """Return the kernel, compiled on first call; numba reads the cache folder in `njit` itself."""
    folder = cache_folder(function.__module__.partition(".")[0])
    others, config.CACHE_DIR = config.CACHE_DIR, folder and str(Path(folder, subfolder))
    options |= {"error_model": "numpy", "no_cfunc_wrapper": True}
    try:
        if subfolder and not folder:  # numba would mix up both forms
            return numba.njit(**options)(function)
        compiled = numba.njit(cache=True, **options)(function)
        compiled.compile = _in_turn(compiled)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        # no cache folder is writable: each process compiles anew
        compiled = numba.njit(**options)(function)
    finally:
        config.CACHE_DIR = others
    return compiled


def _in_turn(kernel: Any) -> Callable[[Any], Any]:
    """Return a function that compiles or loads a kernel in one process at a time."""
    compile_ = kernel.compile
    path = Path(kernel.stats.cache_path, f"{kernel.__module__}.{kernel.__qualname__}.lock")

    def compile_in_turn(signature: Any) -> Any:
        # numba's own lock first, against a deadlock
        with global_compiler_lock, locked(path):
            return compile_(signature)

    return compile_in_turn
