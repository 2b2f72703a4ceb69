"""The marker of a plugin's hooks; `orthobench.registry.hookspecs` says what each hook returns."""

from __future__ import annotations

import pluggy

PROJECT = "orthobench"
"""What pluggy calls this project; the names of all hooks begin with it."""

hookimpl = pluggy.HookimplMarker(PROJECT)
