"""A `Check` of a solver or a problem, and the `Result` of making it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any
from unittest import SkipTest

from orthobench.errors import OrthobenchError
from orthobench.harness.judging import place_of


class NotConforming(AssertionError):  # noqa: N818 - it is about the plugin, not an error of ours
    """A solver or a problem breaks the contract: observation and remedy."""

    def __init__(self, observed: str, remedy: str) -> None:
        super().__init__(f"{observed}. {remedy}.")


def require(condition: object, observed: str, remedy: str) -> None:
    """Raise `NotConforming` unless a condition holds."""
    if not condition:
        raise NotConforming(observed, remedy)


class NotCheckable(SkipTest):
    """A check is impossible; test runners skip it."""


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
        Its name.
    status : CheckStatus
    message : str
        The fault and its remedy, or why the check is impossible; empty if it passed.
    """

    check: str
    status: CheckStatus
    message: str = ""

    def __str__(self) -> str:
        return f"{self.check}: {self.status.value}{f': {self.message}' * bool(self.message)}"


class CheckResults(tuple[Result, ...]):
    """The results of all checks; shown as a line for each."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join(map(str, self))

    def passed(self, subject: str) -> CheckResults:
        """Return them, or raise one error about all faults of a subject."""
        failed = [f"  {r.check}: {r.message}" for r in self if r.status is CheckStatus.FAILED]
        lines = "\n".join([f"{subject} fails {len(failed)} of {len(self)} checks", *failed])
        require(not failed, lines.rstrip("."), "Correct them in this order")
        return self


@dataclass(frozen=True)
class Check:
    """A check of a solver and an instance, or of a problem.

    Attributes
    ----------
    name, requirement : str
    function : callable
        Raises `NotConforming` or `NotCheckable`.
    prerequisites : tuple of Check
        If one of these fails too, the check is not checkable.
    """

    name: str
    requirement: str
    function: Callable[..., object]
    prerequisites: tuple[Check, ...] = ()

    def __call__(self, *subject: Any) -> None:
        """Check a solver and an instance, or a problem."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the check "silent" looks for warnings itself
                self.function(*subject)
        except NotCheckable:
            raise
        except Exception as error:
            for other in self.prerequisites:
                if other.result(*subject).status is CheckStatus.FAILED:
                    reason = f"the check {other.name!r} fails, which comes first"
                    raise NotCheckable(reason) from error
            raise _not_conforming(error, self.name) from error

    def result(self, *subject: Any) -> Result:
        """Return the result, without raising."""
        return result_of(self.name, partial(self, *subject))


def result_of(check: str, call: Callable[[], object]) -> Result:
    """Return the result of a call that makes a check."""
    try:
        call()
    except NotCheckable as reason:
        return Result(check, CheckStatus.NOT_CHECKABLE, str(reason))
    except NotConforming as fault:
        return Result(check, CheckStatus.FAILED, str(fault))
    return Result(check, CheckStatus.PASSED)


def check(
    *prerequisites: Check, subject: Callable[..., Any] | None = None
) -> Callable[[Callable[..., None]], Check]:
    """Make a function the `Check` of its name; its docstring is "Require that ...".

    `subject` makes its argument.
    """

    def made(function: Callable[..., None]) -> Check:
        def call(*given: Any) -> None:
            function(*given) if subject is None else function(subject(*given))

        name = function.__name__.removeprefix("check_")
        first = (function.__doc__ or "").partition("\n")[0]
        requirement = first.removeprefix("Require that ").rstrip(".")
        return Check(name, requirement, call, prerequisites)

    return made


def _not_conforming(error: Exception, check: str) -> NotConforming:
    """Return the error of a check, also for errors of the checked code."""
    if isinstance(error, NotConforming):
        return error
    known = isinstance(error, OrthobenchError)
    text = str(error) if known else f"{error!r}{place_of(error)}"
    remedy = "Make it run on what it is given"
    if "read-only" in text:
        remedy = "The arrays of the oracle are read-only: copy them before you write into them"
    return NotConforming(f"it raised an error in the check {check!r}: {text}", remedy)
