"""The code that a page was measured with: digests of it, and which of them are others now."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from orthobench.harness.identity import canonical
from orthobench.harness.source_digests import CORE, LENGTH, digests, parts
from orthobench.registry.claims import Paper
from orthobench.registry.plugins import Registry

CLAIMS = "claims and suites"

ROW = re.compile(rf"^\| ([\w ,.:-]+) \| `([0-9a-f]{{{LENGTH}}})` \|$", re.MULTILINE)
"""A row of the table of digests on a page."""


def digests_of(paper: Paper, names: Iterable[str], registry: Registry) -> dict[str, str]:
    """Return digests of the code of a paper's claims, of solvers and problems, and of the core.

    Parameters
    ----------
    paper : Paper
    names : iterable of str
        Of solvers and problems, as ``"solver msg"``; those that are not installed have no digest.
    registry : Registry
    """
    classes = {name: found for name in sorted(names) if (found := _classes(name, registry))}
    return {
        CLAIMS: _joined(_claims(paper)),
        CORE: _joined(digests(cls, cls)[CORE] for found in classes.values() for cls in found),
        **{name: _joined(d for cls in all_of for d in parts(cls).values())
           for name, all_of in classes.items()},
    }  # fmt: skip


def changed(paper: Paper, page: str, registry: Registry) -> list[str] | None:
    """Return what is other code now than when a page was measured; None if it has no digests.

    Parameters
    ----------
    paper : Paper
    page : str
        The text of its page.
    registry : Registry
    """
    told = dict(ROW.findall(page))
    if not told:
        return None
    now = digests_of(paper, told, registry)
    return [name for name, digest in told.items() if now.get(name) != digest]


def _classes(name: str, registry: Registry) -> list[type]:
    kind, _, own = name.partition(" ")
    solvers, problems = registry.solvers.get(own), registry.problems.get(own)
    if kind == "solver" and solvers:
        return [provided.item for provided in solvers.all]
    return [problems.item] if kind == "problem" and problems else []


def _claims(paper: Paper) -> Iterator[str]:
    """Yield digests of a paper's description, of the modules of its checks and of its suites."""
    calls = [*(c.check for c in paper.claims if c.check), *(p.plot for p in paper.pictures)]
    homes = sorted({_function(call).__module__ for call in calls})
    if homes:
        marker = type("Claims", (), {"__module__": homes[0], "homes": tuple(homes)})
        yield from parts(marker).values()
    for path in (paper.suites.parent.with_suffix(".toml"), *paper.suites.glob("*.toml")):
        if not path.exists():
            continue
        text = canonical(tomllib.loads(path.read_text(encoding="utf-8")))
        yield hashlib.sha256(f"{path.stem} {text}".encode()).hexdigest()


def _function(call: Any) -> Any:
    return _function(call.func) if isinstance(call, partial) else call


def _joined(found: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(sorted(set(found))).encode()).hexdigest()[:LENGTH]
