"""Other libraries, each of which may be missing."""

from __future__ import annotations

from types import ModuleType

import pytest


def imported(module: str) -> ModuleType:
    """Return a module of the extra ``peers``, or skip the test and say why."""
    name = module.partition(".")[0]
    reason = f"{name} is missing: pip install 'orthobench[peers]'"
    found: ModuleType = pytest.importorskip(module, reason=reason)
    return found
