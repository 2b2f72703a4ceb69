"""The checks that nothing is printed, warned of or drawn from a global random generator."""

from __future__ import annotations

import io
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import numpy as np

from orthobench.testing.check import NotConforming

DESCRIPTORS = (1, 2)
"""Standard output and standard error."""

UNUSUAL_SEED = 1_618_033_988
"""A seed that no code sets by itself, so that seeding a global generator changes its state."""


def check_silent(call: Callable[[], object]) -> None:
    """Raise where a call prints, from Python or from compiled code, or warns."""
    with warnings.catch_warnings(record=True) as caught, captured() as written:
        warnings.simplefilter("always")
        call()
    text = "".join(written).strip()
    if text:
        remedy = "Print nothing: keep in the state what matters, and let the harness show it"
        raise NotConforming(f"it prints {_short(text)}", remedy)
    if caught:
        warning = f"{caught[0].category.__name__}: {caught[0].message}"
        remedy = "Avoid the cause, or wrap it in np.errstate where it is intended"
        raise NotConforming(f"it warns: {_short(warning)}", remedy)


def check_global_random(call: Callable[[], object]) -> None:
    """Raise where a call draws from a global random generator, or seeds one."""
    kept = np.random.get_state(), random.getstate()  # noqa: NPY002 - it is what is checked
    np.random.seed(UNUSUAL_SEED)  # noqa: NPY002
    random.seed(UNUSUAL_SEED)
    before = _global_states()
    try:
        call()
        after = _global_states()
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    for name, state in after.items():
        if state != before[name]:
            remedy = "Draw from the generator that it is given, and seed nothing"
            raise NotConforming(f"it changes the global random state of {name}", remedy)


def _global_states() -> dict[str, object]:
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what is checked
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


@contextmanager
def captured() -> Iterator[list[str]]:
    """Let nothing be printed, by Python or compiled code; give a list that gets it at the end."""
    written: list[str] = []
    buffer = io.StringIO()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        originals = [os.dup(descriptor) for descriptor in DESCRIPTORS]
        try:
            for descriptor in DESCRIPTORS:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(buffer), redirect_stderr(buffer):
                yield written
        finally:
            for descriptor, original in zip(DESCRIPTORS, originals, strict=True):
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            written += [buffer.getvalue(), file.read().decode(errors="replace")]


def _short(text: str) -> str:
    first = text.splitlines()[0]
    return repr(first if len(first) <= 80 else f"{first[:77]}...")
