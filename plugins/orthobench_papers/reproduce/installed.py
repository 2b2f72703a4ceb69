"""The papers of all installed plugins, in a catalogue with all else that they bring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pkgutil import resolve_name

from orthobench.registry import plugins
from orthobench.registry.plugin_checks import PluginError, items_of
from orthobench.registry.plugins import Plugin, Provided, Registry
from orthobench_papers.reproduce.claims import Paper

HOOK = "orthobench_claims"
"""The hook that returns the papers of a plugin."""


@dataclass
class Catalogue(Registry):
    """All that plugins bring, with their papers.

    Attributes
    ----------
    papers : dict
        The papers by name.
    """

    papers: dict[str, Provided[Paper]] = field(default_factory=dict)

    def paper(self, name: str) -> Paper:
        """Return the paper with a name; an unknown name is a `UsageError`."""
        return self._find("paper", self.papers, name)

    def add_papers(self, hook: Callable[[], object], plugin: Plugin) -> None:
        """Register the papers of a plugin, or list them as broken.

        If another plugin has a paper of the same name, neither has it, unless one is built in.
        """
        try:
            for paper in items_of(HOOK, hook):
                if not isinstance(paper, Paper):
                    raise PluginError(f"{paper!r} is not a Paper")  # noqa: TRY301
                if not self._clashes("paper", paper.name, paper, plugin):
                    self.papers[paper.name] = Provided(paper, plugin)
        except PluginError as error:
            self.broken[f"papers of {plugin.name}"] = f"{plugin}: {error}"


@cache
def catalogue() -> Catalogue:
    """Return all that is installed, by name: solvers, problems, suites and papers."""
    core = plugins.catalogue()
    found = Catalogue(**{**vars(core), "broken": dict(core.broken)})
    for plugin in found.plugins:
        hook = getattr(resolve_name(plugin.module), HOOK, None)
        if hook is not None:
            found.add_papers(hook, plugin)
    return found
