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
    """Raise `NotConforming` where what follows takes longer.

    Where the system has alarms, and in the main thread; compiled code is only interrupted once it
    returns.

    Parameters
    ----------
    seconds : float
    mend : str
        What to do about it.
    """
    alarms = hasattr(signal, "setitimer")
    if not alarms or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise NotConforming(f"it has not come to an end after {seconds:g} seconds", mend)

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
