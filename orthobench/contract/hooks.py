"""The marker of hooks: functions of a plugin that return what it brings.

`orthobench.registry.hookspecs` lists the hooks and what each returns.
"""

from __future__ import annotations

import pluggy

PROJECT = "orthobench"
"""The name of this project for pluggy; the names of all hooks begin with it."""

hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator that marks a function as a hook::

    @hookimpl
    def orthobench_solvers():
        return [MySolver]
"""
