"""The names of a side's orthobench, whatever version it is."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

PROTOCOL = "orthobench.compare.protocol"

VERSIONS = (0, 1)
"""The versions of the protocol that can be served."""

VERSION_0 = {
    "catalogue": "orthobench.registry",
    "from_table": "orthobench.suite_file",
    "built": "orthobench.cell",
    "run": "orthobench.harness",
    "timed": "orthobench.harness",
    "CLOCK": "orthobench.harness",
    "RATIO": "orthobench.harness",
    "limited": "orthobench.threads",
}
"""The modules of the names in version 0, which had no protocol."""


class RefusedError(Exception):
    """A side that cannot be compared live, for the reason in the message."""


@cache
def names() -> Any:
    """Return an object with the names of the protocol as attributes.

    Raises
    ------
    RefusedError
        Where the side's orthobench is too old, or newer than what is known here.
    """
    try:
        protocol = import_module(PROTOCOL)
    except ModuleNotFoundError as error:
        if error.name not in (PROTOCOL, PROTOCOL.rpartition(".")[0]):
            raise
        return _version_0()
    if protocol.VERSION not in VERSIONS:
        raise RefusedError(
            f"{_orthobench()} has version {protocol.VERSION} of the comparison protocol, and this "
            f"one knows versions {VERSIONS[0]} to {VERSIONS[-1]}: compare with the newer of the two"
        )
    return protocol


def _version_0() -> Any:
    try:
        return SimpleNamespace(**{
            name: getattr(import_module(module), name) for name, module in VERSION_0.items()
        })  # fmt: skip
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("orthobench"):
            raise
    except AttributeError:  # from before there was this name
        pass
    raise RefusedError(
        f"{_orthobench()} has no comparison protocol, nor the modules of version 0 of it: run the "
        "suite in both environments, and compare the stores"
    )


def _orthobench() -> str:
    version = getattr(import_module("orthobench"), "__version__", "of an unknown version")
    return f"its orthobench {version}"
