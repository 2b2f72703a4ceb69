"""What a check is, and what it says of a solver or a problem that does not pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any
from unittest import SkipTest

from orthobench.errors import OrthobenchError


class NotConforming(AssertionError):  # noqa: N818 - a finding about a solver, no error of ours
    """A check that does not hold.

    Attributes
    ----------
    seen : str
        What was seen, and where.
    mend : str
        What to do about it.
    """

    def __init__(self, seen: str, mend: str) -> None:
        super().__init__(f"{seen}. {mend}.")
        self.seen, self.mend = seen, mend


class NotCheckable(SkipTest):
    """A check that can say nothing here, with the reason; pytest and unittest skip the test."""


class Outcome(Enum):
    """What came of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_CHECKABLE = "not checkable"


@dataclass(frozen=True)
class Result:
    """A check that was made.

    Attributes
    ----------
    check : str
        Its name.
    outcome : Outcome
    message : str
        What was seen and what to do, or why nothing could be checked; empty where it passed.
    """

    check: str
    outcome: Outcome
    message: str = ""


@dataclass(frozen=True)
class Check:
    """A named check of a solver or a problem.

    Attributes
    ----------
    name : str
    says : str
        What holds of everything that passes it, in a line.
    function : callable
        Raises `NotConforming`, or `NotCheckable`.
    needs : tuple of Check
        Where one of these fails, that is the cause, and this check can say nothing.
    """

    name: str
    says: str
    function: Callable[..., None]
    needs: tuple[Check, ...] = ()

    def __call__(self, *subject: Any) -> None:
        """Check a solver with an instance, or a problem.

        Raises
        ------
        NotConforming
            Where it does not hold; says what was seen, and what to do.
        NotCheckable
            Where nothing can be said; says why.
        """
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what looks for them asks for them
                self.function(*subject)
        except NotCheckable:
            raise
        except Exception as error:
            self._defer(subject, error)
            raise _as_finding(error, self.name) from error

    def result(self, *subject: Any) -> Result:
        """Check, and return what came of it instead of raising."""
        try:
            self(*subject)
        except NotCheckable as why:
            return Result(self.name, Outcome.NOT_CHECKABLE, str(why))
        except NotConforming as finding:
            return Result(self.name, Outcome.FAILED, str(finding))
        return Result(self.name, Outcome.PASSED)

    def _defer(self, subject: Sequence[Any], error: Exception) -> None:
        for other in self.needs:
            if other.result(*subject).outcome is Outcome.FAILED:
                why = f"the check {other.name!r} fails, which comes first"
                raise NotCheckable(why) from error


def _as_finding(error: Exception, check: str) -> NotConforming:
    if isinstance(error, NotConforming):
        return error
    text = str(error) if isinstance(error, OrthobenchError) else repr(error)
    if "read-only" in text:
        mend = "What the oracle holds is read-only: copy it before you write into it"
    else:
        mend = "See the traceback; it must run where it is given what it asks for"
    return NotConforming(f"it raised in the check {check!r}: {text}", mend)


def raise_failed(subject: str, results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the results, or raise one finding about all checks that failed.

    Raises
    ------
    NotConforming
    """
    failed = [result for result in results if result.outcome is Outcome.FAILED]
    if not failed:
        return tuple(results)
    lines = [f"{subject} fails {len(failed)} of {len(results)} checks"]
    lines += [f"  {result.check}: {result.message}" for result in failed]
    raise NotConforming("\n".join(lines), "Mend them in this order")
