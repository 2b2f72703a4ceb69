"""An end to loops that have none."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from orthobench.testing.findings import NotConforming


@contextmanager
def patience(seconds: float, mend: str) -> Iterator[None]:
    """Raise `NotConforming` where what follows takes more processor time.

    Where the system has alarms, and in the main thread; compiled code is only interrupted once it
    returns.

    Parameters
    ----------
    seconds : float
        Of the processor, so that a busy machine does not run out of patience.
    mend : str
        What to do about it.
    """
    alarms = hasattr(signal, "setitimer")
    if not alarms or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise NotConforming(
            f"it has not come to an end after {seconds:g} seconds of processor time", mend
        )

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
