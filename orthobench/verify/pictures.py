"""Exhibits of a reported result against those of a recomputed one: bit for bit, or not at all.

Another platform may turn what is shown, such as the sign of a column, and leave every metric as it
is: there exhibits are not compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping

from orthobench.contract.exhibits import Exhibit, packed
from orthobench.harness.trace import Outcome
from orthobench.results.reported import Reported
from orthobench.verify.comparing import OF_MACHINE, Mismatch, depends_on_clock

DIGITS = 12
"""The hexadecimal digits of a digest that people are shown."""


def digests(exhibits: Mapping[str, Exhibit]) -> dict[str, str]:
    """Return what changes with any bit of each exhibit, by its name."""
    return {name: _digest(one) for name, one in exhibits.items()}


def _digest(exhibit: Exhibit) -> str:
    kind, labels, data = packed(exhibit)
    return hashlib.sha256(f"{kind} {labels} ".encode() + data).hexdigest()[:DIGITS]


def comparable(reported: Reported, outcome: Outcome) -> bool:
    """Return whether both runs end with the same solution, on the same platform."""
    return not depends_on_clock(reported) and outcome.stop.status not in OF_MACHINE


def otherwise(reported: Reported, shown: Mapping[str, str], outcome: Outcome) -> Iterator[Mismatch]:
    """Yield the exhibits of a result that did not come out again.

    Parameters
    ----------
    reported : Reported
    shown : mapping
        The `digests` of what the store shows of it.
    outcome : Outcome
    """
    again = digests(outcome.exhibits)
    for name in dict.fromkeys([*shown, *again]):
        old, new = shown.get(name), again.get(name)
        if old != new:
            metric = f"exhibit {name!r}"
            yield Mismatch(reported.key, reported.label, metric, None, old, new)
