"""The state of a process that a solver may change, and that the next one there would get."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from orthobench.harness.execution import CLOCK

WATCHED = (
    "numpy", "numpy.linalg", "numpy.random", "scipy.linalg", "scipy.sparse.linalg", "builtins",
    "time", "threading", "pickle", "os", "gc",
)  # fmt: skip
"""The modules whose functions and classes nobody is to replace, beside those of this project."""

_noted: dict[str, list[tuple[Mapping[str, Any], list[str], list[Any]]]] = {}
"""Of each module that was seen: namespaces, names in them, and functions with these names."""

_seen: set[str] = set()
"""All modules that were seen."""


class ProcessState:
    """The state of this process when it is made."""

    def __init__(self) -> None:
        self._state = _state()
        if len(sys.modules) != len(_seen):
            _note_functions()

    def changed(self) -> bool:
        """Return whether the process is in another state now."""
        try:
            return self._state != _state() or any(
                [*map(space.get, names)] != items
                for spaces in _noted.values()
                for space, names, items in spaces
            )
        except Exception:  # what cannot even be compared
            return True


def _state() -> dict[str, object]:
    tiny, half = np.float64(5e-324), np.float64(2.0**-53)
    state: dict[str, object] = {
        "errors": (np.geterr(), np.geterrcall()),
        "arithmetic": [float(x) for x in (tiny * 1.0, half + 1.0, half - 1.0, half * 3 + 1.0)],
        "threads": {thread.ident for thread in threading.enumerate()},
        "interpreter": (sys.getrecursionlimit(), sys.getswitchinterval(), gc.get_threshold()),
        "collector": gc.isenabled(),
        "tracing": (sys.gettrace(), sys.getprofile(), CLOCK.get()),
        "folder": None,
    }
    with suppress(OSError):  # the folder may be removed
        state["folder"] = os.getcwd()  # noqa: PTH109 - pathlib is slower
    if sys.platform == "linux":
        import resource

        limits = (resource.RLIMIT_DATA, resource.RLIMIT_AS, resource.RLIMIT_CPU,
                  resource.RLIMIT_NOFILE, resource.RLIMIT_STACK)  # fmt: skip
        state["limits"] = [resource.getrlimit(limit) for limit in limits]
        state["schedule"] = (os.sched_getaffinity(0), os.getpriority(os.PRIO_PROCESS, 0))
    return state


def _note_functions() -> None:
    """Note the functions and classes of modules that were loaded since the last time."""
    for name, module in list(sys.modules.items()):
        _seen.add(name)
        if name in _noted or not (name in WATCHED or name.startswith("orthobench.")):
            continue
        space = vars(module)
        kinds = [k for k in space.values() if isinstance(k, type) and k.__module__ == name]
        _noted[name] = []
        for own in (space, *map(vars, kinds)):
            names = [key for key, item in own.items() if callable(item)]
            _noted[name].append((own, names, [own[key] for key in names]))
