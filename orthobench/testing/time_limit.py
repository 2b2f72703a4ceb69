"""A time limit for code that may never return."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from orthobench.testing.check import NotConforming


@contextmanager
def time_limit(seconds: float, remedy: str) -> Iterator[None]:
    """Raise `NotConforming` once the body has taken more processor time than allowed.

    It works in the main thread, on systems that have interval timers; elsewhere there is no limit.
    Compiled code is interrupted only when it returns.

    Parameters
    ----------
    seconds : float
        Of processor time, so that the limit does not depend on how busy the machine is.
    remedy : str
        What the error says to do.
    """
    timers = hasattr(signal, "setitimer")
    if not timers or threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise NotConforming(
            f"it has not come to an end after {seconds:g} seconds of processor time", remedy
        )

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
