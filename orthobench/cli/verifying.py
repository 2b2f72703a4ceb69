"""The commands ``orthobench verify`` and ``orthobench submit``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from orthobench.cli.exit_codes import FAILED, WRONG
from orthobench.cli.options import AS_JSON, AUTO_WORKERS, MEMORY_LIMIT, QUIET, STORE, TIMEOUT
from orthobench.cli.printing import print_facts, say
from orthobench.tools.collections import plain


@click.command()
@STORE
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Share of the cells that are computed again, rounded up.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draw of these cells.")
@click.option(
    "--data",
    "folders",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder below which files may be read that STORE names. Repeatable.  [default: none]",
)
@click.option(
    "--record",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Add what was found to this file of tiers; an atlas reads STORE.tiers.json.",
)
@click.option(
    "--reference",
    is_flag=True,
    help="With --record: this machine is the reference; what it measured counts as timed.",
)
@AUTO_WORKERS
@TIMEOUT
@MEMORY_LIMIT
@QUIET
@AS_JSON
def verify(store: Path, share: float, seed: int, folders: tuple[Path, ...], record: Path | None,
           reference: bool, workers: Any, timeout: float | None, memory_limit: int | None,
           quiet: bool, as_json: bool) -> None:  # fmt: skip
    """Compute a random share of the cells in STORE again, and compare.

    STORE is a store, the folder that holds results.sqlite, or a submission; it is only read.
    Endings, steps, samples, flops and metrics of all checkpoints are compared: bit for bit on the
    same platform, within a tolerance on another one, which is named. Seconds are not. What is not
    installed here is named and counts as not checked, and so does what ran with other code than is
    here and comes out otherwise.

    \b
    orthobench verify STORE --share 1       all cells
    orthobench verify STORE --seed $RANDOM  a draw that nobody knows beforehand
    orthobench verify FILE.zip --timeout 60 --memory-limit 4GiB
                                            a submission of somebody else

    The exit code is 1 where a value did not come out again, and 2 where nothing could be checked.
    """  # noqa: D301 - click reads the backspace
    from orthobench.harness.executors import Limits
    from orthobench.registry.plugins import catalogue
    from orthobench.results import submissions, tiers
    from orthobench.tools.threads import cores
    from orthobench.verify import wording
    from orthobench.verify.check import verify as verified

    if reference and record is None:
        raise click.UsageError("--reference is a remark in the file that --record names")
    known = tiers.read(record) if record else None
    with submissions.store_of(store) as (path, told):
        if told and (told.author or told.note):
            say(f"submitted by {told.author or 'somebody'}: {told.note}", err=True)
        found = verified(
            path, catalogue(), share=share, seed=seed, folders=folders,
            workers=cores() if workers == "auto" else workers,
            limits=Limits(timeout, memory_limit), quiet=quiet or as_json,
        )  # fmt: skip
    if record and known is not None:
        tiers.write(known | found.tiers(reference), record)
    print_facts(plain(wording.facts(found)) if as_json else found, as_json, wording.lines)
    sys.exit(FAILED if found.mismatches else 0 if found.recomputed else WRONG)


@click.command()
@STORE
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write: a zip archive.",
)
@click.option("--author", default="", help="Who submits it; one line.")
@click.option("--note", default="", help="What readers should know; one line.")
@click.option(
    "--anonymous",
    is_flag=True,
    help="Leave out the machine, folders and tracebacks; bits cannot be compared then.",
)
@AS_JSON
def submit(store: Path, out: Path, author: str, note: str, anonymous: bool,
           as_json: bool) -> None:  # fmt: skip
    """Pack STORE into one file that others can verify.

    It has the store, the versions of the plugins, and the environment of the runs. What a store
    tells about you and your machine is in it, too: see the documentation about the store.

    \b
    orthobench submit results.sqlite --out mine.zip --author "A. N. Other"
    orthobench verify mine.zip
    """  # noqa: D301 - click reads the backspace
    from orthobench.results import submissions
    from orthobench.results.results import store_at

    packed = submissions.pack(store_at(store), out, author, note, anonymous)
    facts = {**plain(packed), "file": str(out), "bytes": out.stat().st_size}
    print_facts(facts, as_json, _packed_lines)


def _packed_lines(facts: dict[str, Any]) -> Iterator[str]:
    yield f"{facts['cells']:,} cells of {', '.join(facts['suites'])}, {facts['bytes']:,} bytes"
    yield facts["file"]
    yield f"orthobench verify {shlex.quote(facts['file'])} computes a share of them again"
