"""Checks in a process of their own, so that one may hang or crash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orthobench.errors import OrthobenchError, UsageError
from orthobench.registry.plugins import catalogue
from orthobench.testing.cases import Asked, cases, facts
from orthobench.testing.check import CheckStatus, Result
from orthobench.tools.child import Channel
from orthobench.tools.processes import Process, ProcessError

FAILED, THREADS = CheckStatus.FAILED.value, "threads"

GRACE = 60.0
"""Further seconds until the first check."""


def checked(asked: Asked, limit: float) -> Iterator[dict[str, str]]:
    """Yield the `facts` of all checks, in their order.

    If a check ends its process or finds threads, a new process goes on with the next item.
    """
    died: dict[str, str] = {}
    made = 0
    while True:
        arguments = {"asked": asked._asdict(), "first": made, "died": died}
        with Process("orthobench.testing.in_child", arguments, codec="json") as process:
            current: dict[str, str] = {}
            try:
                while "end" not in (message := process.receive(limit + GRACE * (not current))):
                    if "error" in message:
                        raise UsageError(message["error"])
                    current = message
                    if message["status"]:
                        made += 1
                        yield message
                    if message["status"] == FAILED and message["check"] == THREADS:
                        died[message["name"]] = THREADS
                        break
                else:
                    return
            except (ProcessError, TimeoutError) as error:
                if not current or current["status"]:
                    raise UsageError(f"the process of {asked.item} died: {error}") from None
                made += 1
                died[current["name"]] = current["check"]
                message = f"{error}. Look for a loop without an end, threads, or compiled code."
                yield {**current, "status": FAILED, "message": message}


def main(channel: Channel, asked: Any, first: int, died: dict[str, str]) -> None:
    """Make the checks from number `first` on; send a message before and after each.

    `died` has the check after which others are skipped, by the name of the item.
    """
    try:
        found = enumerate(cases(Asked(**asked), catalogue()))
        for case in (case for number, case in found if number >= first):
            about = facts(case, Result(case.check.name, CheckStatus.NOT_CHECKABLE))
            channel.send({**about, "status": ""})
            if case.name in died:
                why = f"the check {died[case.name]!r} fails, which comes first"
                channel.send({**about, "message": why})
            else:
                channel.send(facts(case, case.result()))
    except OrthobenchError as error:
        channel.send({"error": str(error)})
    channel.send({"end": ""})
