"""The plugin: what it brings to orthobench, which finds it through the entry point."""

from __future__ import annotations

from pathlib import Path

from orthobench.contract import AnySolver, hookimpl

from orthobench_minibatch_oja.solver import MinibatchOja


@hookimpl
def orthobench_solvers() -> list[type[AnySolver]]:
    """Return the solvers."""
    return [MinibatchOja]


@hookimpl
def orthobench_suites() -> list[Path]:
    """Return the suites; the name of each is that of its file."""
    return sorted(Path(__file__).parent.glob("*.toml"))
