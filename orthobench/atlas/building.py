"""Building of an atlas and its site from stores."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from orthobench.atlas.collect import by_suite, collect, merged
from orthobench.atlas.describing import described
from orthobench.atlas.site import write_site
from orthobench.atlas.site.write import refuse_foreign
from orthobench.report.page import write_page

MOST_BYTES = 9_000_000
"""The most bytes of reports in a site: static hosts like sites of 15 MB in all."""


def build(stores: Sequence[Path], folder: Path, reports: bool = True) -> Path:
    """Write the site of some stores, and their atlas; return the path of its first page.

    Parameters
    ----------
    stores : sequence of Path
    folder : Path
        Does not exist, is empty, or has a site and nothing else.
    reports : bool
        Whether to add a report about each suite, with all curves: the smallest ones, until they
        take `MOST_BYTES`.
    """
    refuse_foreign(folder)  # before anything takes its time
    atlas = described(collect(stores))
    with tempfile.TemporaryDirectory() as there:
        pages = _reports(stores, Path(there)) if reports else {}
        return write_site(atlas, folder, pages)


def _reports(stores: Sequence[Path], folder: Path) -> dict[str, Path]:
    """Write a report about each suite, and return the folders of those that fit."""
    pages = {
        suite: write_page(merged(parts), folder / str(number))
        for number, (suite, parts) in enumerate(by_suite(stores).items())
    }
    kept, room = {}, MOST_BYTES
    for suite, page in sorted(pages.items(), key=lambda pair: pair[1].stat().st_size):
        room -= page.stat().st_size
        if room >= 0:
            kept[suite] = page.parent
    return {suite: kept[suite] for suite in pages if suite in kept}
