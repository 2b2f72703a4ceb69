"""The site of an atlas: a page with the best solver for each family, and a page a family.

Its map is a picture: over two sizes, the cheapest solver that is good enough.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from orthobench._version import __version__
from orthobench.atlas.answers import NUMBERS, changed, origin, short, views
from orthobench.atlas.chart import drawn, strength
from orthobench.atlas.collect import collect, described, with_records
from orthobench.atlas.losses import losses
from orthobench.atlas.table import Atlas, read, write
from orthobench.errors import UsageError
from orthobench.report.page.write import environment, resource
from orthobench.tools.files import atomic_write, make_folder

TABLE = "atlas.parquet"

SHADES = 1, 3, 10
"""Factors of the legend of shades."""


def build(stores: Sequence[Path], folder: Path) -> Path:
    """Write the site of some stores, and their atlas; return the path of its first page."""
    _refuse_other_site(folder)  # before anything takes its time
    return write_site(with_records(described(collect(stores))), folder)


def write_site(atlas: Atlas, folder: Path) -> Path:
    """Write the site of an atlas; return the path of its first page.

    Pages of families that are gone are removed. Other files of the folder stay.

    Raises
    ------
    UsageError
        If a file cannot be written, or the folder has another web site.
    """
    _refuse_other_site(folder)
    make_folder(folder, "the site")
    write(atlas, folder / TABLE)
    written = dict(pages(read(folder / TABLE)))  # with the digits of the file
    for name, text in written.items():
        with atomic_write(folder / name) as file:
            file.write(text.encode())
    for page in folder.glob("family-*.html"):
        if page.name not in written:
            page.unlink()
    return folder / "index.html"


def _refuse_other_site(folder: Path) -> None:
    pages = [*folder.glob("index.html"), *folder.glob("family-*.html")]
    if pages and not (folder / TABLE).is_file():
        raise UsageError(
            f"{folder} has a page that is not of an atlas, {pages[0].name!r}, which the site would "
            "replace: name another folder"
        )


def pages(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all pages."""
    templates = environment(__package__)
    shared = {
        "version": __version__, "origin": origin(atlas),
        "css": resource("site.css", __package__),
        "factors": [(factor, strength(factor)) for factor in SHADES],
    }  # fmt: skip
    cards, others = [], []
    family = templates.get_template("site_family.html")
    for kind, rows in atlas.kinds.items():
        sections = []
        for view, one in views(rows).items():
            found = losses(rows, one.comparisons)
            sections.append((view, one, drawn(found, one.solver, one.cost) if one.use else None))
        page = family.render(shared, kind=kind, sections=sections, changed=changed(rows))
        yield address(kind), page
        if kind != rows[0].family:
            others.append((kind, address(kind)))
        elif sections and sections[0][2]:
            _, one, picture = sections[0]
            cards.append((kind, address(kind), short(one), picture))
    index = templates.get_template("site_index.html")
    yield "index.html", index.render(shared, cards=cards, others=others, numbers=NUMBERS)


def address(kind: str) -> str:
    """Return the file name of the page about a kind of problems; it depends on its name alone."""
    plain = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:60]
    if kind.lower() not in (plain, plain.replace("-", " ")):
        plain += "-" + hashlib.sha256(kind.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"family-{plain}.html"
