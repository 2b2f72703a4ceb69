"""The time that the import of a module takes in a fresh interpreter, and its shares by package."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field

_READY = "orthobench is imported"
_CODE = """
import sys, orthobench.registry.plugins
print({ready!r}, file=sys.stderr)
import {module}
"""


@dataclass(frozen=True)
class ImportTime:
    """The time of an import after that of orthobench itself, in seconds.

    Attributes
    ----------
    seconds : float
    shares : dict
        The seconds of each package that it imports, the largest first.
    """

    seconds: float
    shares: dict[str, float] = field(default_factory=dict)


def measure(module: str) -> ImportTime:
    """Time the import of a module in a fresh interpreter; if it fails, up to the failure.

    Parameters
    ----------
    module : str
        Its dotted name.
    """
    code = _CODE.format(ready=_READY, module=module)
    words = [sys.executable, "-P", "-X", "importtime", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return parse(done.stderr.partition(_READY)[2])


def parse(text: str) -> ImportTime:
    """Parse the output of ``python -X importtime``: self and cumulative microseconds, and names."""
    shares: Counter[str] = Counter()
    for line in text.splitlines():
        columns = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and columns[0].strip().isdigit():
            shares[columns[2].strip().partition(".")[0]] += int(columns[0])
    return ImportTime(
        sum(shares.values()) * 1e-6, {name: us * 1e-6 for name, us in shares.most_common()}
    )
