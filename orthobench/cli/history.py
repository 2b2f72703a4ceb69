"""The command ``orthobench history``."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import click

from orthobench.cli.compare import comparing
from orthobench.cli.options import AS_JSON, COUNT, FOLDER, POSITIVE, QUIET
from orthobench.cli.printing import print_facts, say, status_line


@click.command()
@click.argument("revisions", nargs=-1, required=True, metavar="RANGE|REVISION...")
@comparing
@click.option("--every", type=COUNT, default=1, show_default=True, metavar="N",
              help="Take each N-th commit only.")  # fmt: skip
@click.option("--time", "timed", is_flag=True, help="Time neighbours side by side too.")
@click.option("--budget", type=POSITIVE, default=60.0, show_default=True, metavar="SECONDS",
              help="Limit the timing of two neighbours.")  # fmt: skip
@click.option("-o", "--out", type=FOLDER, help="Write the page and the results to this folder.  "
              "[default: orthobench-results/SUITE-history]")  # fmt: skip
@click.option("--open/--no-open", "opened", help="Open the page in a browser.")
@QUIET
@AS_JSON
def history(revisions: tuple[str, ...], extras: tuple[Path, ...], every: int,
            timed: bool, out: Path | None, opened: bool, quiet: bool, as_json: bool,
            **chosen: Any) -> None:  # fmt: skip
    """Find the commits of RANGE that changed results, work or times.

    RANGE is one of git, in the current folder, with both ends; or single revisions. Unchanged cells
    do not run again, and the same command goes on after an interruption. Results and work are
    exact; with --time, neighbours are timed by turns, at 1 % false steps in a history.

    \b
    orthobench history v1.0..HEAD --suite gate.toml
    orthobench history HEAD~30..HEAD --every 3 --time
    orthobench history v1.0 v1.1 v2.0
    """  # noqa: D301 - click reads the backspace
    from orthobench.compare.cells import SUITE
    from orthobench.compare.options import Options
    from orthobench.history.curves import curves, facts, lines
    from orthobench.history.follow import History, Record, commits_of
    from orthobench.history.times import ratios
    from orthobench.report.page.history import write_history
    from orthobench.tools.files import make_folder

    here, options = Path.cwd(), Options(**chosen)
    commits = commits_of(here, revisions, every)
    name = Path(options.suite or SUITE).stem
    folder = make_folder(out or Path("orthobench-results", f"{name}-history"), "the history")
    record = Record(folder / "history.sqlite")
    found = History(here, commits, options, record, extras)
    try:
        with status_line(quiet or as_json) as progress:
            found.follow(progress)
            drawn = curves(found, ratios(found, progress) if timed else [])
    except KeyboardInterrupt as error:
        message = f"interrupted; what is finished is in {record.path}, call again to go on"
        raise type(error)(message) from None
    plain = facts(found, *drawn, revisions)
    page = write_history(plain, folder)
    width = min(shutil.get_terminal_size().columns, 100)
    print_facts(plain | {"page": str(page)} if as_json else plain, as_json,
                partial(lines, width=width))  # fmt: skip
    if not as_json:
        say(f"\n{page}")
    if opened:
        click.launch(page.resolve().as_uri())
