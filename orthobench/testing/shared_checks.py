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
from io import StringIO
from typing import Any

import numpy as np

from orthobench.contract.parameters import Parameter, parameters_of
from orthobench.errors import UsageError
from orthobench.testing.check import Check, NotConforming, require

LARGEST_PICKLE = 100_000
"""Maximum size of a pickle in bytes: parameters, no data."""

UNUSUAL_SEED = 1_618_033_988
"""A seed that no code sets."""


def of_side_effects(use: Callable[..., object], *first: Check) -> tuple[Check, ...]:
    """Return the checks that `use(item, ...)` has no side effects, after others."""

    def made(
        name: str, requirement: str, function: Callable[[Callable[[], object]], None]
    ) -> Check:
        return Check(name, requirement, lambda *item: function(partial(use, *item)), first)

    return (
        made("random", "global random states are left as they are", check_global_random),
        made("silent", "nothing is printed or warned of", check_silent),
        made("subnormal", "the smallest numbers do not become zero", check_subnormal),
    )


def of_declaration() -> tuple[Check, ...]:
    """Return the checks of an item's parameters."""
    return (
        Check("parameters", "wrong parameters are refused by name", check_parameters),
        Check("recipe", "it compares, hashes and pickles by its parameters", check_recipe),
    )


class Unfit:
    """A value that no parameter allows."""

    def __repr__(self) -> str:
        return "<no value at all>"


def check_parameters(item: Any, *_: object) -> None:
    """Raise if a parameter has no help, or does not refuse a wrong value by name."""
    for p in parameters_of(type(item)):
        remedy = f"Declare it: {p.field}: {p.type_name} = parameter(..., help='...')"
        require(p.help, f"the parameter {p.name!r} has no help", remedy)
        for value in unfit(p):
            observed = f"{p.name}={value!r} is allowed"
            try:
                dataclasses.replace(item, **{p.field: value})
            except UsageError as error:
                if p.name in str(error):
                    continue
                observed = f"{p.name}={value!r} is refused by an error that does not name it"
            except Exception as error:
                observed = f"{p.name}={value!r} raises {error!r}, not a UsageError"
            raise NotConforming(
                observed,
                "Declare parameters with orthobench.contract.parameter, and call "
                "super().__post_init__() if the class has a __post_init__ of its own",
            )


def check_recipe(item: Any, *_: object) -> None:
    """Raise unless an item compares, hashes and pickles by its parameters."""
    same = dataclasses.replace(item)
    remedy = "Make it @dataclass(frozen=True), with parameters that compare and hash by value"
    equal = item == same and hash(item) == hash(same)
    require(equal, "two of it with equal parameters are not equal", remedy)
    try:
        pickled = pickle.dumps(item)
        again = pickle.loads(pickled)  # noqa: S301 - pickled in the line above
    except Exception as error:
        remedy = "Define its class at the top of a module, and keep no functions or files in it"
        raise NotConforming(f"it cannot be pickled: {error!r}", remedy) from error
    require(again == item, "its pickle is not equal to it", "Keep its parameters in fields only")
    observed = f"its pickle takes {len(pickled)} bytes"
    require(len(pickled) <= LARGEST_PICKLE, observed, "Keep no data in it: read them in `build`")


def unfit(p: Parameter) -> Iterator[Any]:
    """Yield values that a parameter must refuse by its declaration."""
    yield Unfit()
    if p.choices:
        yield "".join(p.choices) + "?"
        return
    types = typing.get_args(p.type) or (p.type,)
    whole = int in types and float not in types
    if float in types:
        yield math.nan
    for bound, towards in ((p.low, -math.inf), (p.high, math.inf)):
        if math.isfinite(bound):
            beyond = int(bound) + (1 if towards > 0 else -1)
            yield beyond if whole else math.nextafter(bound, towards)
    for bound in (p.above, p.below):
        if math.isfinite(bound):
            yield int(bound) if whole else bound


def check_silent(call: Callable[[], object]) -> None:
    """Raise if a call prints or warns."""
    with warnings.catch_warnings(record=True) as caught, captured() as written:
        warnings.simplefilter("always")
        call()
    text = "".join(written).strip()
    remedy = "Print nothing: keep in the state what matters, and let the harness show it"
    require(not text, f"it prints {_short(text)}", remedy)
    for warning in caught:
        observed = f"it warns: {_short(f'{warning.category.__name__}: {warning.message}')}"
        raise NotConforming(observed, "Avoid the cause, or use np.errstate if it is intended")


def check_subnormal(call: Callable[[], object]) -> None:
    """Raise if a mode of the processor makes small numbers zero after a call."""
    call()
    smallest_normal = float(np.finfo(np.float64).tiny)
    require(
        smallest_normal / 2 > 0,
        "numbers below 2.2e-308 are zero in this process (flush-to-zero), for all solvers and the "
        "judge, as libraries built with -ffast-math switch on when they are loaded",
        "Build and link the library without -ffast-math (gcc: -mno-daz-ftz), or reset the mode "
        "after it is loaded",
    )


def generators() -> dict[str, object]:
    """Return the states of the global random generators, by name."""
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is checked
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


def check_global_random(call: Callable[[], object]) -> None:
    """Raise if a call draws from or seeds a global generator."""
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
    buffer = StringIO()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        originals = {descriptor: os.dup(descriptor) for descriptor in (1, 2)}
        try:
            for descriptor in originals:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(buffer), redirect_stderr(buffer):
                yield written
        finally:
            for descriptor, original in originals.items():
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            written += [buffer.getvalue(), file.read().decode(errors="replace")]


def _short(text: str) -> str:
    return repr(textwrap.shorten(text.partition("\n")[0], 80, placeholder="..."))
