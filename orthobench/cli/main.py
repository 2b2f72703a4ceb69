"""The command ``orthobench``: each of its commands is in the module of its name.

Exit codes: 0 success, 1 a run failed or is worse, 2 a wrong call, 74 no output, 130 interrupted,
141 the reader of the output ended, 143 SIGTERM.
"""

from __future__ import annotations

import click

from orthobench._version import __version__
from orthobench.cli.advise import advise
from orthobench.cli.atlas import atlas
from orthobench.cli.commands import Commands
from orthobench.cli.comparing import compare
from orthobench.cli.doctor import doctor
from orthobench.cli.export import export
from orthobench.cli.history import history
from orthobench.cli.list import list_
from orthobench.cli.map import measure_map
from orthobench.cli.merge import merge
from orthobench.cli.plugin import plugin
from orthobench.cli.race import race
from orthobench.cli.report import report
from orthobench.cli.run import run
from orthobench.cli.show import show
from orthobench.cli.verify import verify


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


for command in (
    advise, atlas, compare, doctor, export, history, list_, measure_map, merge, plugin,
    race, report, run, show, verify,
):  # fmt: skip
    main.add_command(command)
