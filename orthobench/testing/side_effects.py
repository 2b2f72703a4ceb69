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


def check_silent(call: Callable[[], object]) -> None:
    """Raise where a call prints, from Python or from compiled code, or warns."""
    written = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as warned,
        _descriptors() as lines,
        redirect_stdout(written),
        redirect_stderr(written),
    ):
        warnings.simplefilter("always")
        call()
    text = (written.getvalue() + "".join(lines)).strip()
    if text:
        mend = "Print nothing: a run's display is the harness's; put what matters into the state"
        raise NotConforming(f"it prints {_short(text)}", mend)
    if warned:
        said = f"{warned[0].category.__name__}: {warned[0].message}"
        mend = "Avoid what is warned of, or wrap it in np.errstate where it is meant"
        raise NotConforming(f"it warns: {_short(said)}", mend)


def check_global_random(call: Callable[[], object]) -> None:
    """Raise where a call draws from a global random generator, or seeds one."""
    before = _global_states()
    call()
    for name, state in _global_states().items():
        if state != before[name]:
            mend = "Draw from the generator that it is given, and seed nothing"
            raise NotConforming(f"it changes the global random state of {name}", mend)


def _global_states() -> dict[str, object]:
    kind, keys, *rest = np.random.get_state(legacy=True)  # noqa: NPY002 - it is what we guard
    words = np.asarray(keys).tobytes()
    return {"numpy.random": (kind, words, *rest), "random": random.getstate()}


@contextmanager
def _descriptors() -> Iterator[list[str]]:
    """Give a list that in the end has what was written to the descriptors of output."""
    lines: list[str] = []
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        kept = [os.dup(descriptor) for descriptor in (1, 2)]
        try:
            for descriptor in (1, 2):
                os.dup2(file.fileno(), descriptor)
            yield lines
        finally:
            for descriptor, original in zip((1, 2), kept, strict=True):
                os.dup2(original, descriptor)
                os.close(original)
            file.seek(0)
            lines.append(file.read().decode(errors="replace"))


def _short(text: str) -> str:
    first = text.splitlines()[0]
    return repr(first if len(first) <= 80 else f"{first[:77]}...")
