"""BASE and HEAD: what their names mean, and an interpreter or a store for each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orthobench.compare.comparison import Side
from orthobench.compare.environments.building import Builder, Built
from orthobench.compare.environments.naming import Named, resolve
from orthobench.errors import UsageError

PROBE = Path(__file__).with_name("probe.py")

PATIENCE = 120.0
"""Seconds that an interpreter may take to say what it would import."""


@contextmanager
def sides(
    base: str,
    head: str,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    here: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Side, Side]]:
    """Give the two sides of a comparison, with the environments that they need.

    Every text is looked up and checked before anything is built. An environment that is built has
    the side's project alone, and falls back on the packages of this environment for all else, so
    that both sides have the same dependencies; its interpreter is asked whether it really imports
    what was built. The user's checkout and environment stay as they are, and what was built is
    removed at the end.

    Parameters
    ----------
    base, head : str
        Each a git revision of the project around `here`, a project's folder (as it is, with
        uncommitted changes), a wheel, an environment (its folder or interpreter) or a store.
    folder : Path, optional
        Where environments of revisions and wheels are kept, and taken from the next time.
    fresh : bool
        Whether each environment gets dependencies of its own, from the package index.
    here : Path, optional
        The current folder by default.
    tell : callable
        Is told what is being done.

    Raises
    ------
    UsageError
        Where a text means nothing, or an environment cannot be built or does not import its code.
    StoreError
        Where a database is no store.
    """
    here = here or Path.cwd()
    named = [resolve("BASE", base, here), resolve("HEAD", head, here)]
    for one in named:
        if one.side.python:
            _check_environment(one)
    with TemporaryDirectory(prefix="orthobench-compare-") as scratch:
        builder = Builder(Path(scratch).resolve(), folder and folder.absolute(), fresh, tell)
        first, second = (_ready(one, builder) for one in named)
        yield first, second


def _ready(named: Named, builder: Builder) -> Side:
    if not named.built:
        return named.side
    built = builder.build(named)
    builder.tell(f"{named}: looking what it imports")
    _check_built(named, built)
    return replace(named.side, python=built.python)


def _check_environment(named: Named) -> None:
    found = _probed(named, named.side.python)
    if found["orthobench"] is None:
        raise UsageError(
            f"{named}: {named.side.python} cannot import orthobench; install it there (what "
            "PYTHONPATH and the user's own site-packages add does not count)"
        )
    if reason := found["broken"].get("orthobench"):
        raise UsageError(f"{named}: orthobench does not load there: {reason}")


def _check_built(named: Named, built: Built) -> None:
    """Refuse an environment that would not run the side's code, or not all of it.

    A gate that compares a thing with itself, or with nothing, would pass for ever.
    """
    found = _probed(named, built.python, built.distribution)
    if found["modules"] is None:
        raise UsageError(f"{named}: pip did not install {built.distribution} where it was told to")
    if found["orthobench"] is None:
        raise UsageError(f"{named}: its environment has no orthobench; does the project need it?")
    inside = built.folder.resolve()
    for module, file in found["modules"].items():
        if file is None or not Path(file).is_relative_to(inside):
            raise UsageError(
                f"{named}: {module} would be imported from {file}, not from what was built of it; "
                "uninstall what brings that, or build with --fresh-dependencies"
            )
    _refuse_broken(named, built, found)


def _refuse_broken(named: Named, built: Built, found: dict[str, Any]) -> None:
    own = {name for name, brought in found["plugins"].items() if _same(brought, built.distribution)}
    for name in sorted(own | {"orthobench"}):
        if reason := found["broken"].get(name):
            raise UsageError(
                f"{named}: its plugin {name!r} does not load: {reason}; where a dependency is "
                "missing, install it here or build with --fresh-dependencies"
            )


def _same(one: str | None, other: str) -> bool:
    return one is not None and one.lower().replace("-", "_").replace(".", "_") == other.lower()


def _probed(named: Named, python: Path | None, *distribution: str) -> dict[str, Any]:
    try:
        done = subprocess.run(
            [str(python), "-I", str(PROBE), *distribution],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"{named}: cannot run {python}: {error}") from None
    try:
        found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        said = done.stderr.strip()[-500:] or f"exit code {done.returncode}"
        raise UsageError(f"{named}: {python} does not work: {said}") from None
    return found
