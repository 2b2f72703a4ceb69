"""Digests of the code of a page, compared with the code of now."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from orthobench.harness.identity import canonical
from orthobench.harness.source_digests import CORE, LENGTH, digests, parts
from orthobench.registry.plugins import Registry
from orthobench_papers.reproduce.claims import Paper
from orthobench_papers.reproduce.estimates import Estimate

CLAIMS = "claims and suites"

ROW = re.compile(rf"^\| ([\w ,.:-]+) \| `([0-9a-f]{{{LENGTH}}})` \|$", re.MULTILINE)
"""A row of the table of digests on a page."""


def digests_of(paper: Paper, names: Iterable[str], registry: Registry) -> dict[str, str]:
    """Return digests of the code of a paper's claims, of solvers and problems, and of the core.

    Parameters
    ----------
    paper : Paper
    names : iterable of str
        Solvers and problems, such as ``"solver msg"``; those that are not installed are left out.
    registry : Registry
    """
    classes = {name: found for name in sorted(names) if (found := _classes(name, registry))}
    return {
        CLAIMS: _joined(_claims(paper)),
        CORE: _joined(digests(cls, cls)[CORE] for found in classes.values() for cls in found),
        **{name: _joined(digest for cls in found for digest in parts(cls).values())
           for name, found in classes.items()},
    }  # fmt: skip


def changed(paper: Paper, page: str, registry: Registry) -> list[str] | None:
    """Return the names on a page whose code has changed; None without digests."""
    before = dict(ROW.findall(page))
    now = digests_of(paper, before, registry)
    return [name for name in before if now.get(name) != before[name]] if before else None


def _classes(name: str, registry: Registry) -> list[type]:
    kind, _, own = name.partition(" ")
    if kind == "solver" and (solvers := registry.solvers.get(own)):
        return [provided.item for provided in solvers.all]
    problem = registry.problems.get(own) if kind == "problem" else None
    return [problem.item] if problem else []


def _claims(paper: Paper) -> Iterator[str]:
    """Yield digests of a paper's description, of the modules of its checks and of its suites."""
    calls = [*(c.check for c in paper.claims if c.check), *(p.plot for p in paper.pictures)]
    if calls:
        homes = sorted({Estimate.__module__, *(_function(call).__module__ for call in calls)})
        marker = type("Claims", (), {"__module__": homes[0], "homes": tuple(homes)})
        yield from parts(marker).values()
    for path in (paper.suites.parent.with_suffix(".toml"), *paper.suites.glob("*.toml")):
        if path.exists():
            text = canonical(tomllib.loads(path.read_text(encoding="utf-8")))
            yield hashlib.sha256(f"{path.stem} {text}".encode()).hexdigest()


def _function(call: Any) -> Any:
    if isinstance(call, partial):
        return _function(call.func)
    return _function(call.values) if isinstance(call, Estimate) else call


def _joined(found: Iterable[str]) -> str:
    return hashlib.sha256(" ".join(sorted(set(found))).encode()).hexdigest()[:LENGTH]
