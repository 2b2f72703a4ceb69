"""Checks that solvers and problems share: parameters and side effects."""

from __future__ import annotations

import dataclasses
import math
import os
import pickle
import random
import sys
import tempfile
import textwrap
import typing
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from typing import Any, TypeVar

import numpy as np

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError
from orthobench.harness.executors.solving import generators
from orthobench.testing.check import Check, NotConforming, check, require

T = TypeVar("T")

LARGEST_PICKLE = 100_000
"""Maximum size of a pickle in bytes: parameters, no data."""

UNUSUAL_SEED = 1_618_033_988
"""A seed that no code sets."""


def of_side_effects(use: Callable[..., object], *first: Check) -> tuple[Check, ...]:
    """Return the checks that `use(item, ...)` has no side effects, after others."""
    made = check(*first, subject=lambda *item: partial(use, *item))
    return made(check_random), made(check_silent), made(check_subnormal)


def check_parameters(item: Any, *_: object) -> None:
    """Require that wrong parameters are refused by name.

    Parameters have help, too.
    """
    for p in parameters_of(type(item)):
        remedy = f"Declare it: {p.field}: {p.type_name} = parameter(..., help='...')"
        require(p.help, f"the parameter {p.name!r} has no help", remedy)
        remedy = "Declare parameters with `parameter`, and call super().__post_init__() in yours"
        for value in unfit(p):
            observed = "is allowed"
            try:
                dataclasses.replace(item, **{p.field: value})
            except UsageError as error:
                if p.name in str(error):
                    continue
                observed = "is refused by an error that does not name it"
            except Exception as error:
                observed = f"raises {error!r}, not a UsageError"
            raise NotConforming(f"{p.name}={value!r} {observed}", remedy)


def check_recipe(item: Any, *_: object) -> None:
    """Require that it compares, hashes and pickles by its parameters."""
    same = dataclasses.replace(item)
    remedy = "Make it @dataclass(frozen=True), with parameters that compare and hash by value"
    equal = item == same and hash(item) == hash(same)
    require(equal, "two of it with equal parameters are not equal", remedy)
    remedy = "Keep its parameters in fields only"
    require(pickled(item) == item, "its pickle is not equal to it", remedy)
    size = len(pickle.dumps(item))
    observed = f"its pickle takes {size} bytes"
    require(size <= LARGEST_PICKLE, observed, "Keep no data in it: read them in `build`")


def pickled(item: T, name: str = "it") -> T:
    """Return an item after pickling, or raise if that is impossible."""
    try:
        again: T = pickle.loads(pickle.dumps(item))  # noqa: S301 - pickled right here
    except Exception as error:
        remedy = "Define its class in a module, and keep no functions, files or kernels in it"
        raise NotConforming(f"{name} cannot be pickled: {error!r}", remedy) from error
    return again


def unfit(p: Parameter) -> Iterator[Any]:
    """Yield values that a parameter must refuse by its declaration."""
    yield ...
    if p.choices:
        yield "".join(p.choices) + "?"
        return
    values = [p.low - 1, p.high + 1, p.above, p.below]
    if float in (typing.get_args(p.type) or (p.type,)):
        values[:2] = math.nan, math.nextafter(p.low, -math.inf), math.nextafter(p.high, math.inf)
    yield from (value for value in values if not math.isinf(value))


def check_silent(call: Callable[[], object]) -> None:
    """Require that nothing is printed or warned of."""
    with warnings.catch_warnings(record=True) as caught, captured() as written:
        warnings.simplefilter("always")
        call()
    text = "".join(written).strip()
    require(not text, f"it prints {_short(text)}", "Print nothing: keep in the state what matters")
    for warning in caught:
        observed = f"it warns: {_short(f'{warning.category.__name__}: {warning.message}')}"
        raise NotConforming(observed, "Avoid the cause, or use np.errstate if it is intended")


def check_subnormal(call: Callable[[], object]) -> None:
    """Require that the smallest numbers do not become zero."""
    call()
    smallest_normal = float(np.finfo(np.float64).tiny)
    observed = "numbers below 2.2e-308 are zero after it (flush-to-zero), for all code that follows"
    remedy = (
        "Link libraries without -ffast-math (gcc: -mno-daz-ftz), or reset the mode after loading"
    )
    require(smallest_normal / 2 > 0, observed, remedy)


def check_random(call: Callable[[], object]) -> None:
    """Require that global random states are left as they are."""
    kept = np.random.get_state(), random.getstate()  # noqa: NPY002 - it is what is checked
    np.random.seed(UNUSUAL_SEED)  # noqa: NPY002
    random.seed(UNUSUAL_SEED)
    before = generators()
    try:
        call()
        after = generators()
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    changed = " and ".join(name for name, state in after.items() if state != before[name])
    observed = f"it changes the global random state of {changed}"
    require(not changed, observed, "Draw from the generator that it is given, and seed nothing")


@contextmanager
def captured() -> Iterator[list[str]]:
    """Suppress all output; the list has it at the end."""
    written: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile("a+", errors="replace") as file:
        originals = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
        try:
            for descriptor in originals:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(file), redirect_stderr(file):
                yield written
        finally:
            for descriptor, original in originals.items():
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            written.append(file.read())


def _short(text: str) -> str:
    return repr(textwrap.shorten(text.partition("\n")[0], 80, placeholder="..."))


DECLARATION = check()(check_parameters), check()(check_recipe)
"""The checks of an item's parameters."""
