"""What importing a module costs, measured in a fresh interpreter, and who costs most of it."""

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
    """What an import costs, in seconds, once orthobench itself is imported.

    Attributes
    ----------
    seconds : float
    shares : dict
        What of it each package takes that the import brings in, the most first.
    """

    seconds: float
    shares: dict[str, float] = field(default_factory=dict)


def measure(module: str) -> ImportTime:
    """Import a module in a fresh interpreter and time it; one that fails, until it does.

    Parameters
    ----------
    module : str
        Its dotted name.
    """
    code = _CODE.format(ready=_READY, module=module)
    words = [sys.executable, "-X", "importtime", "-c", code]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return parse(done.stderr.partition(_READY)[2])


def parse(text: str) -> ImportTime:
    """Read what ``python -X importtime`` prints: self and cumulative microseconds, and a name."""
    shares: Counter[str] = Counter()
    for line in text.splitlines():
        columns = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and columns[0].strip().isdigit():
            shares[columns[2].strip().partition(".")[0]] += int(columns[0])
    return ImportTime(
        sum(shares.values()) * 1e-6, {name: us * 1e-6 for name, us in shares.most_common()}
    )
