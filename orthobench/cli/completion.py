"""Completion in shells: of commands and options, and of the names of what is installed."""

from __future__ import annotations

from typing import Literal

import click
from click.shell_completion import CompletionItem, get_completion_class

from orthobench.errors import OrthobenchError

PROGRAM = "orthobench"
VARIABLE = "_ORTHOBENCH_COMPLETE"

SHELLS = {
    "bash": 'eval "$(orthobench completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(orthobench completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "orthobench completion fish | source  # in ~/.config/fish/config.fish",
}
"""The shells, with the line that turns completion on."""


@click.command(
    epilog="\b\n" + "\n".join(SHELLS.values()),
    short_help="Print the script that completes commands in a shell.",
)
@click.argument("shell", type=click.Choice([*SHELLS]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands, options and names in SHELL."""
    known = get_completion_class(shell)
    if known is None:
        raise click.UsageError(f"this version of click completes nothing in {shell}")
    click.echo(known(context.find_root().command, {}, PROGRAM, VARIABLE).source())


Kind = Literal["suites", "solvers", "problems", "families"]


class Installed(click.types.StringParamType):
    """A text that begins with the name of something installed; completed, not checked.

    Parameters
    ----------
    kinds : str
        What is completed: ``"suites"``, ``"solvers"``, ``"problems"``, ``"families"`` of problems,
        with hyphens for spaces. After a name, its parameters are.
    """

    name = "text"

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names, or the parameters of a name, that begin with what is typed."""
        del ctx, param
        try:
            found = self._found(incomplete)
        except OrthobenchError:
            return []
        return [CompletionItem(word) for word in found if word.startswith(incomplete)]

    def _found(self, incomplete: str) -> list[str]:
        from orthobench.contract.parameters import parameters_of
        from orthobench.registry.plugins import catalogue

        kinds = [kind for kind in self.kinds if kind != "families"]
        known = {k: v for kind in kinds for k, v in getattr(catalogue(), kind).items()}
        head, space, _ = incomplete.rpartition(" ")
        if not space:
            families = {p.item.family for p in catalogue().problems.values()}
            hyphened = [name.replace(" ", "-") for name in families if "families" in self.kinds]
            return sorted([*known, *hyphened])
        provided = known.get(head.split()[0])
        if provided is None or not isinstance(provided.item, type):
            return []
        return [f"{head} {parameter.name}=" for parameter in parameters_of(provided.item)]
