"""Checks in a process of their own: one that hangs is cut, and one that crashes has a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from orthobench.errors import OrthobenchError, UsageError
from orthobench.registry.plugins import catalogue
from orthobench.testing import check
from orthobench.testing.cases import Asked, cases, facts
from orthobench.testing.check import CheckStatus, Result
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, ProcessError

GRACE = 20.0
"""Seconds after its limit in which a check may end itself, as compiled code does not."""

Facts: TypeAlias = dict[str, str]


def checked(asked: Asked, limit: float) -> Iterator[Facts]:
    """Yield the `facts` of all checks, in their order.

    Once a process has died, the other checks of its solver or problem are not made.

    Parameters
    ----------
    asked : Asked
    limit : float
        Seconds of a check.

    Raises
    ------
    UsageError
        As of `cases`.
    """
    died: dict[str, str] = {}
    made = 0
    while True:
        arguments = {"asked": asked._asdict(), "limit": limit, "first": made, "died": died}
        with Process("orthobench.testing.in_child", arguments, codec="json") as process:
            current: Facts = {}
            try:
                while "end" not in (message := process.receive(limit + GRACE)):
                    if "error" in message:
                        raise UsageError(message["error"])
                    current = message
                    if message["status"]:
                        made += 1
                        yield message
            except (ProcessError, TimeoutError) as error:
                if not current or current["status"]:
                    raise UsageError(
                        f"the process that checks {asked.item} died: {error}"
                    ) from None
                made += 1
                died[current["name"]] = current["check"]
                message = f"{error}. Look for a loop without an end, threads, or compiled code."
                yield {**current, "status": CheckStatus.FAILED.value, "message": message}
            else:
                return


def main(channel: Channel, asked: Any, limit: float, first: int, died: dict[str, str]) -> None:
    """Make the checks from one on; send what each is about, and then its result.

    Parameters
    ----------
    channel : Channel
    asked : mapping
        An `Asked`.
    limit : float
    first : int
        The number of checks that were made already.
    died : dict
        The check that ended its process, by the name of the solver or problem.
    """
    check.LIMIT = limit
    try:
        found = enumerate(cases(Asked(**asked), catalogue()))
        for _, case in (one for one in found if one[0] >= first):
            result = Result(case.check.name, CheckStatus.NOT_CHECKABLE)
            about = facts(case, result)
            channel.send({**about, "status": ""})
            if case.name in died:
                why = f"the check {died[case.name]!r} ended its process, which comes first"
                channel.send({**about, "message": why})
            else:
                channel.send(facts(case, case.result()))
    except OrthobenchError as error:
        channel.send({"error": str(error)})
    channel.send({"end": ""})
