"""Platforms: what bits depend on besides code and data, and how two of them differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")
"""The distributions whose arithmetic reaches results."""


def differences(
    theirs: Mapping[str, Any], here: Mapping[str, Any], told: Mapping[str, Any],
    snapshot: Mapping[str, Any],
) -> tuple[str, ...]:  # fmt: skip
    """Return in what the platform of a cell differs from this one; empty where it does not.

    Parameters
    ----------
    theirs, here : mapping
        The content of the cell, as it was stored and as it is here.
    told, snapshot : mapping
        The environment of its session, and the one of this process.
    """
    found = [*_parts(theirs, here), *_machines(told, snapshot)]
    return tuple(f"{name} {_short(old)} there, {_short(new)} here" for name, old, new in found)


def machine(environment: Mapping[str, Any]) -> tuple[str, str]:
    """Return the processor, and the kind of system with its C library, from an environment."""
    platform = str(environment.get("platform") or "").split("-")
    system = [platform[0], *platform[-3:]]
    return str(environment.get("cpu") or ""), "-".join(system)


def _parts(theirs: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    if theirs.get("blas") != here.get("blas"):
        yield "BLAS", theirs.get("blas"), here.get("blas")
    yield from _entries(theirs.get("versions"), here.get("versions"))
    if theirs.get("place") != here.get("place"):
        yield "device", theirs.get("place"), here.get("place")


def _machines(
    told: Mapping[str, Any], snapshot: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any]]:
    for name, old, new in zip(
        ("processor", "system"), machine(told), machine(snapshot), strict=True
    ):
        if old != new:
            yield name, old, new
    old_python, new_python = (str(one.get("python", "")) for one in (told, snapshot))
    if old_python.split(".")[:2] != new_python.split(".")[:2]:
        yield "Python", old_python, new_python
    packages = [one.get("packages") or {} for one in (told, snapshot)]
    yield from _entries(*({name: one.get(name) for name in PACKAGES} for one in packages))


def _entries(theirs: Any, here: Any) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*theirs, *here}):
        if theirs.get(name) != here.get(name):
            yield name, theirs.get(name), here.get(name)


def _short(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " and ".join(map(str, value))
    if isinstance(value, Mapping):
        return ", ".join(map(str, value.values()))
    return str(value or "not told")
