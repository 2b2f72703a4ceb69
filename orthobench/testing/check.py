"""A `Check` of a solver or a problem, and the `Result` of making it."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import current_thread, main_thread
from typing import Any
from unittest import SkipTest
from weakref import WeakKeyDictionary

from orthobench.errors import OrthobenchError
from orthobench.harness.judging import place_of


class NotConforming(AssertionError):  # noqa: N818 - it is about the plugin, not an error of ours
    """A solver or a problem does not keep to the contract.

    Parameters
    ----------
    observed : str
        What was seen, and where.
    remedy : str
        What to do about it.
    """

    def __init__(self, observed: str, remedy: str) -> None:
        super().__init__(f"{observed}. {remedy}.")
        self.observed, self.remedy = observed, remedy


class FatalError(NotConforming):
    """A fault that makes all other checks of the class useless, or dear: they are not made."""


def require(condition: object, observed: str, remedy: str) -> None:
    """Raise `NotConforming` where a condition does not hold."""
    if not condition:
        raise NotConforming(observed, remedy)


class NotCheckable(SkipTest):
    """A check cannot be made here, for the reason given; pytest and unittest skip the test."""


class LateError(BaseException):
    """A check has taken longer than `LIMIT`."""


@contextmanager
def time_limit(seconds: float, error: BaseException, *, processor: bool = False) -> Iterator[None]:
    """Raise an error once the body has taken longer than allowed.

    It works in the main thread, on systems that have interval timers; elsewhere there is no limit.
    Compiled code is interrupted only when it returns.

    Parameters
    ----------
    seconds : float
    error : BaseException
    processor : bool
        Whether the seconds are processor time, which does not depend on how busy the machine is.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return
    number, timer = signal.SIGALRM, signal.ITIMER_REAL
    if processor:
        number, timer = signal.SIGPROF, signal.ITIMER_PROF

    def late(*_: object) -> None:
        raise error

    before = signal.signal(number, late)
    signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        signal.setitimer(timer, 0)
        signal.signal(number, before)


LIMIT = 120.0
"""The seconds after which a check is cut, compilation included."""

_given_up: WeakKeyDictionary[type, str] = WeakKeyDictionary()
"""The classes of which no more checks are made, each with the check that says why."""


class CheckStatus(Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Result:
    """The result of a check.

    Attributes
    ----------
    check : str
        The name of the check.
    status : CheckStatus
    message : str
        What was seen and what to do, or why the check could not be made; empty where it passed.
    """

    check: str
    status: CheckStatus
    message: str = ""


@dataclass(frozen=True)
class Check:
    """A check of a solver or a problem.

    Attributes
    ----------
    name : str
        One word.
    requirement : str
        What it requires, in a line.
    function : callable
        ``function(solver, instance)`` or ``function(problem)``; raises `NotConforming` or
        `NotCheckable`.
    prerequisites : tuple of Check
        Checks without which this one says nothing: where it fails, and one of them fails too, it
        counts as not checkable.
    """

    name: str
    requirement: str
    function: Callable[..., None]
    prerequisites: tuple[Check, ...] = ()

    def __call__(self, *subject: Any) -> None:
        """Check a solver and an instance, or a problem.

        Raises
        ------
        NotConforming
            Where the requirement is not met; says what was seen, and what to do.
        NotCheckable
            Where the check cannot be made; says why.
        """
        kind = type(next(iter(subject), None))
        if kind in _given_up:
            raise NotCheckable(f"the check {_given_up[kind]!r} fails, which comes first")
        try:
            with warnings.catch_warnings(), time_limit(LIMIT, LateError()):
                warnings.simplefilter("ignore")  # the check "silent" looks for warnings itself
                self.function(*subject)
        except NotCheckable:
            raise
        except FatalError:
            _given_up[kind] = self.name
            raise
        except LateError as error:
            _given_up[kind] = self.name
            raise NotConforming(
                f"it was cut by the limit of {LIMIT:g} s, in the check {self.name!r}",
                "A step, an `init` or a `solution` must end: look for a loop without an end",
            ) from error
        except Exception as error:
            for other in self.prerequisites:
                if other.result(*subject).status is CheckStatus.FAILED:
                    reason = f"the check {other.name!r} fails, which comes first"
                    raise NotCheckable(reason) from error
            raise _not_conforming(error, self.name) from error

    def result(self, *subject: Any) -> Result:
        """Make the check, and return its result instead of raising."""
        try:
            self(*subject)
        except NotCheckable as reason:
            return Result(self.name, CheckStatus.NOT_CHECKABLE, str(reason))
        except NotConforming as fault:
            return Result(self.name, CheckStatus.FAILED, str(fault))
        return Result(self.name, CheckStatus.PASSED)


def check(
    requirement: str, *prerequisites: Check, subject: Callable[..., Any] | None = None
) -> Callable[[Callable[..., None]], Check]:
    """Make a function the `Check` of its name.

    Parameters
    ----------
    requirement : str
    *prerequisites : Check
    subject : callable, optional
        Makes the argument of the function from what is checked, such as
        `orthobench.testing.short_runs.Runner`.
    """

    def made(function: Callable[..., None]) -> Check:
        def call(*given: Any) -> None:
            function(*given) if subject is None else function(subject(*given))

        return Check(function.__name__.removeprefix("check_"), requirement, call, prerequisites)

    return made


def _not_conforming(error: Exception, check: str) -> NotConforming:
    """Return the error of a check; any other than its own was raised by what is checked."""
    if isinstance(error, NotConforming):
        return error
    known = isinstance(error, OrthobenchError)
    text = str(error) if known else f"{error!r}{place_of(error)}"
    if "read-only" in text:
        remedy = "The arrays of the oracle are read-only: copy them before you write into them"
    else:
        remedy = "Make it run on what it is given"
    return NotConforming(f"it raised an error in the check {check!r}: {text}", remedy)
