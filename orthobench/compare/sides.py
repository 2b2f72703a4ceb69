"""The two sides of a comparison: their environments are built where necessary, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from orthobench.compare.building import Builder, Built, same_name
from orthobench.compare.cached_env import own_folder
from orthobench.compare.comparison import Side
from orthobench.compare.naming import Named, resolve
from orthobench.compare.process import program_of
from orthobench.compare.seal import Seal
from orthobench.errors import UsageError
from orthobench.tools.processes import Process, ProcessError

PATIENCE = 120.0
"""Seconds that an interpreter may take to find out what it would import."""


@contextmanager
def sides(
    base: str,
    head: str,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    here: Path | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[Side, Side]]:
    """Give the two sides of a comparison, with the environments that they need.

    Every text is looked up and checked before anything is built. A built environment contains the
    side's project alone, and takes everything else from the packages of this environment, so that
    both sides have the same dependencies; its interpreter is asked whether it really imports what
    was built. The user's checkout and environment stay as they are, and what is not kept of the
    built environments is removed at the end.

    BASE is complete and sealed before any code of HEAD is run, its build included.

    Parameters
    ----------
    base, head : str
        Each a git revision of the project around `here`, a project's folder (as it is, with
        uncommitted changes), a wheel, an environment (its folder or interpreter) or a store.
    folder : Path, optional
        Where environments of revisions and wheels are kept and found again the next time.
    fresh : bool
        Whether each environment gets dependencies of its own, from the package index.
    here : Path, optional
        The current folder by default.
    progress : callable
        Called with what is being done.

    Raises
    ------
    UsageError
        Where a text means nothing, or an environment cannot be built, does not import its code or
        has an orthobench that this one cannot be compared with.
    StoreError
        Where a database is no store.
    ChangedError
        Where the build of HEAD changed BASE.
    """
    here = here or Path.cwd()
    named = [resolve("BASE", base, here), resolve("HEAD", head, here)]
    kept = folder and own_folder(folder.absolute())
    with ExitStack() as held:
        ready: list[Side] = []
        built: list[tuple[Named, Built]] = []
        for one in named:
            if one.built:
                # none lies beside the other, where its build could reach it by a relative path
                scratch = held.enter_context(TemporaryDirectory(prefix="orthobench-compare-"))
                builder = Builder(Path(scratch).resolve(), kept, fresh, progress)
                found = builder.build(one, held)
                built.append((one, found))
                ready.append(replace(one.side, python=found.python, seals=found.seals))
            else:
                ready.append(_checked_environment(one) if one.side.python else one.side)
        progress("checking what the sides import")
        _check_all(built)
        yield ready[0], ready[1]


def _check_all(built: Sequence[tuple[Named, Built]]) -> None:
    """Check that no build reached another's environment, and at the same time what each imports."""
    for named, found in built:
        own, *shared = found.seals
        own.check(named, strict=not found.kept)  # nothing else runs what is not kept
        for seal in shared:
            seal.check(named)
    with ThreadPoolExecutor() as pool:
        for check in [pool.submit(_check_built, *each) for each in built]:
            check.result()


def _checked_environment(named: Named) -> Side:
    """Return the side of an environment that the user named, sealed, once it can be compared."""
    python = named.side.python
    found = _probed(named, python)
    if found["orthobench"] is None:
        raise UsageError(
            f"{named}: {python} cannot import orthobench; install it there (what "
            "PYTHONPATH and the user's own site-packages add does not count)"
        )
    _refuse_version(named, found)
    if reason := found["broken"].get("orthobench"):
        raise UsageError(f"{named}: orthobench does not load there: {reason}")
    return replace(named.side, seals=(Seal.of(Path(found["orthobench"])),))


def _check_built(named: Named, built: Built) -> None:
    """Refuse an environment that would not run the side's code, or not all of it.

    A gate that compares a version with itself, or with nothing, would always pass.
    """
    found = _probed(named, built.python, built.distribution)
    if found["modules"] is None:
        raise UsageError(f"{named}: pip did not install {built.distribution} in its environment")
    if found["orthobench"] is None:
        raise UsageError(f"{named}: its environment has no orthobench; does the project need it?")
    inside = built.folder.resolve()
    for module, file in found["modules"].items():
        if file is None or not Path(file).is_relative_to(inside):
            raise UsageError(
                f"{named}: {module} would be imported from {file}, not from what was built of it; "
                "uninstall what brings that, or build with --fresh-dependencies"
            )
    _refuse_version(named, found)
    _refuse_broken(named, built, found)


def _refuse_version(named: Named, found: dict[str, Any]) -> None:
    if found["refused"]:
        raise UsageError(f"{named} cannot be compared: {found['refused']}")


def _refuse_broken(named: Named, built: Built, found: dict[str, Any]) -> None:
    own = {
        name for name, brought in found["plugins"].items() if same_name(brought, built.distribution)
    }
    for name in sorted(own | {"orthobench"}):
        if reason := found["broken"].get(name):
            raise UsageError(
                f"{named}: its plugin {name!r} does not load: {reason}; where a dependency is "
                "missing, install it here or build with --fresh-dependencies"
            )


def _probed(named: Named, python: Path | None, distribution: str | None = None) -> dict[str, Any]:
    """Return what the probe finds out in an interpreter."""
    try:
        with Process(program_of(python, "probe", distribution=distribution)) as process:
            found: dict[str, Any] = process.receive(PATIENCE)
    except ProcessError as error:
        why = error.stderr[-500:] or error.reason
        raise UsageError(f"{named}: {python} does not work: {why}") from None
    except OSError as error:  # also a TimeoutError
        raise UsageError(f"{named}: cannot run {python}: {error}") from None
    return found
