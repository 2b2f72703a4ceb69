"""The command ``orthobench``; its commands are in modules of their names.

Exit codes: 0 success, 1 a run failed or is worse, 2 a wrong call, 74 no output, 130 interrupted,
141 the reader of the output ended, 143 SIGTERM.
"""

from __future__ import annotations

import click

from orthobench._version import __version__
from orthobench.cli.commands import Commands


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="orthobench")
def main() -> None:
    """Compare solvers for problems with orthogonality constraints.

    \b
    orthobench run                 run the default comparison
    orthobench race -p "npy-pca path=X.npy k=4"
                                   find the call for your data
    orthobench advise              choose a method from stored results
    orthobench plugin new NAME     write a solver of your own
    """  # noqa: D301 - click reads the backspace
