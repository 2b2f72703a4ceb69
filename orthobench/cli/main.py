"""The command ``orthobench``: each of its commands is in the module of its name.

Exit codes: 0 on success, 1 where a run that is shown failed, 2 where the call is wrong or names
something unknown, 74 where the output cannot be written, 130 on an interruption, 141 where nobody
reads the output any more, 143 on SIGTERM.
"""

from __future__ import annotations

import click

from orthobench._version import __version__
from orthobench.cli.advise import advise
from orthobench.cli.atlas import atlas
from orthobench.cli.comparing import compare
from orthobench.cli.doctor import doctor
from orthobench.cli.export import export
from orthobench.cli.history import history
from orthobench.cli.importing import import_
from orthobench.cli.list import list_
from orthobench.cli.map import measure_map
from orthobench.cli.merge import merge
from orthobench.cli.plugin import plugin
from orthobench.cli.printing import Group
from orthobench.cli.race import race
from orthobench.cli.report import report
from orthobench.cli.reproducing import reproduce
from orthobench.cli.run import run
from orthobench.cli.show import show
from orthobench.cli.verify import verify


@click.group(
    cls=Group, context_settings={"help_option_names": ["-h", "--help"], "show_default": True}
)
@click.version_option(__version__, prog_name="orthobench")
def main() -> None:
    """Compare solvers for problems with orthogonality constraints.

    \b
    orthobench run                 the default comparison
    orthobench run SUITE           a suite, by its name or its TOML file
    orthobench race -p "npy-pca path=X.npy k=4"
                                   the answer for your own data, in the time you give it
    orthobench advise              which method to use, from an atlas of runs
    orthobench map FAMILY          measure which method where, over sizes
    orthobench report STORE        the page about the results
    orthobench compare BASE HEAD   what a change made worse or slower
    orthobench history RANGE       which commits of a range changed it
    orthobench import TABLE --store STORE
                                   results of another harness, to be compared here
    orthobench verify STORE        whether its results come out again here
    """  # noqa: D301 - click reads the backspace


for command in (
    advise, atlas, compare, doctor, export, history, import_, list_, measure_map, merge, plugin,
    race, report, reproduce, run, show, verify,
):  # fmt: skip
    main.add_command(command)
