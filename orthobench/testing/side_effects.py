"""What solvers and problems must leave alone: the streams of output, and global random state."""

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

from orthobench.testing.findings import NotConforming

DESCRIPTORS = (1, 2)
"""Standard output and standard error."""

UNUSUAL = 1_618_033_988
"""A seed of global random states that nobody has."""


def check_silent(call: Callable[[], object]) -> None:
    """Raise where a call prints, from Python or from compiled code, or warns."""
    with warnings.catch_warnings(record=True) as warned, captured() as written:
        warnings.simplefilter("always")
        call()
    text = "".join(written).strip()
    if text:
        mend = "Print nothing: a run's display is the harness's; put what matters into the state"
        raise NotConforming(f"it prints {_short(text)}", mend)
    if warned:
        said = f"{warned[0].category.__name__}: {warned[0].message}"
        mend = "Avoid what is warned of, or wrap it in np.errstate where it is meant"
        raise NotConforming(f"it warns: {_short(said)}", mend)


def check_global_random(call: Callable[[], object]) -> None:
    """Raise where a call draws from a global random generator, or seeds one."""
    kept = np.random.get_state(), random.getstate()  # noqa: NPY002 - it is what we guard
    # states that nobody seeds: whoever seeds them is noticed, a second time too
    np.random.seed(UNUSUAL)  # noqa: NPY002
    random.seed(UNUSUAL)
    before = _global_states()
    try:
        call()
        after = _global_states()
    finally:
        np.random.set_state(kept[0])  # noqa: NPY002
        random.setstate(kept[1])
    for name, state in after.items():
        if state != before[name]:
            mend = "Draw from the generator that it is given, and seed nothing"
            raise NotConforming(f"it changes the global random state of {name}", mend)


def _global_states() -> dict[str, object]:
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what we guard
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


@contextmanager
def captured() -> Iterator[list[str]]:
    """Let nothing be printed; give a list that in the end has what was written, by anyone."""
    written: list[str] = []
    buffer = io.StringIO()
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(descriptor) for descriptor in DESCRIPTORS]
        try:
            for descriptor in DESCRIPTORS:
                os.dup2(file.fileno(), descriptor)
            with redirect_stdout(buffer), redirect_stderr(buffer):
                yield written
        finally:
            for descriptor, original in zip(DESCRIPTORS, kept, strict=True):
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            written += [buffer.getvalue(), file.read().decode(errors="replace")]


def _short(text: str) -> str:
    first = text.splitlines()[0]
    return repr(first if len(first) <= 80 else f"{first[:77]}...")
