"""The site of an atlas: a page with the best solver for each family, and a page a family.

Its map is a picture: over two sizes, the cheapest solver that is good enough.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orthobench._version import __version__
from orthobench.atlas.answers import (
    NUMBERS,
    VIEWS,
    changed,
    origin,
    short,
    titled,
    views,
    with_records,
)
from orthobench.atlas.chart import chart
from orthobench.atlas.collect import collect, described
from orthobench.atlas.losses import SIZES, Losses, losses, members
from orthobench.atlas.table import Atlas, read, write
from orthobench.decide.answer import MISS
from orthobench.decide.wording import factor_text
from orthobench.errors import UsageError
from orthobench.registry.plugins import catalogue
from orthobench.report.page.write import environment, resource
from orthobench.report.style import Style, solver_styles
from orthobench.tools.collections import grouped
from orthobench.tools.files import atomic_write, make_folder
from orthobench.tools.formatting import clean, count

TABLE = "atlas.parquet"

CLOSE = 1.1
"""Two solvers are close if their costs differ by less than this factor."""

RANKED = 5
"""Maximum number of solvers in the ranking of a place."""

SHADES = 1, 3, 10
"""Factors of the legend of shades."""

CARD = 410, 250
"""Width and height of a picture on the first page, in pixels."""

WORDS = {"rows": "rows", "d": "columns", "k": "sought"}
"""The names of sizes for people."""


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
        "factors": [(factor, _strength(factor)) for factor in SHADES],
    }  # fmt: skip
    cards, others = [], []
    family = templates.get_template("site_family.html")
    for kind, rows in atlas.kinds.items():
        sections: list[tuple[Any, ...]] = []
        for view, one in views(rows).items():
            found = losses(rows, *VIEWS[view])
            picture = drawn(found, one.solver) if one.use else None
            if picture:
                picture["chart"] = chart(found, picture, VIEWS[view][0])
            sections.append((view, one, picture, list(members(found)) if one.use else []))
        title = titled(kind, rows)
        yield (
            address(kind),
            family.render(shared, kind=title, sections=sections, changed=changed(rows)),
        )
        if kind != rows[0].family:
            others.append((title, address(kind)))
        elif sections and sections[0][2]:
            view, one, picture, _ = sections[0]
            found = losses(rows, *VIEWS[view])
            picture = {**picture, "chart": chart(found, picture, VIEWS[view][0], *CARD)}
            cards.append((title, address(kind), short(one), picture))
    index = templates.get_template("site_index.html")
    yield "index.html", index.render(shared, cards=cards, others=others, numbers=NUMBERS)


def address(kind: str) -> str:
    """Return the file name of the page about a kind of problems; it depends on its name alone."""
    plain = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:60]
    if kind.lower() not in (plain, plain.replace("-", " ")):
        plain += "-" + hashlib.sha256(kind.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"family-{plain}.html"


def drawn(found: Losses, single: str) -> dict[str, Any]:
    """Return the map of the problems of a kind; ``single`` is the best single solver.

    Its axes are the two sizes with the largest number of values. If one size determines the other,
    problems stand beside their names. Keys: labels ``x`` and ``y``, ``columns``, ``rows`` from the
    largest to the smallest with the places of each column (`_place`), and ``legend``, the cheapest
    solvers with their styles.
    """
    sizes = {name: [getattr(one, name) for one in found.features] for name in SIZES}
    order = sorted(SIZES, key=lambda name: (-len(set(sizes[name])), SIZES.index(name)))
    x, y = sorted(order[:2], key=SIZES.index)
    if len(set(zip(sizes[x], sizes[y], strict=True))) == len(set(sizes[order[0]])):
        x, y = order[0], "problem"
    across, up = sizes[x], sizes.get(y, list(found.names))
    best = [found.solver_names[i] for i in found.logs.argmin(axis=1)]
    legend = sorted(set(best), key=lambda name: (-best.count(name), name))
    styles = solver_styles(legend)
    columns, heights = sorted(set(across)), sorted(set(up), reverse=True)
    places = grouped(range(len(found.problems)), lambda i: (up[i], across[i]))
    return {
        "x": WORDS[x],
        "y": WORDS.get(y, y),
        "columns": [_size(c) for c in columns],
        "rows": [
            (_size(h), [[_place(found, i, styles, single) for i in places.get((h, c), ())]
                        for c in columns])
            for h in heights
        ],
        "legend": [(name, styles[name]) for name in legend],
    }  # fmt: skip


def _size(value: object) -> str:
    return count(value or math.nan) if isinstance(value, int) else clean(str(value))


def _place(found: Losses, i: int, styles: dict[str, Style], single: str) -> dict[str, Any]:
    """Return a problem on the map.

    ``close``: another solver is within `CLOSE` of the cheapest. ``lost``: the factor of the best
    single solver. ``strength``: percent of colour, which grows with that.
    """
    logs = found.logs[i]
    least: dict[str, float] = {}
    for j in np.argsort(logs, kind="stable"):
        if np.isfinite(found.costs[i, j]):
            least.setdefault(found.solver_names[j], math.exp(logs[j]))
    ranked, lost = list(least.items()), math.exp(logs[found.solvers.index(single)])
    known = catalogue().problems.get(found.names[i])
    return {
        "problem": found.problems[i],
        "name": found.names[i] if known and known.item.source else "",
        "solver": ranked[0][0],
        "style": styles[ranked[0][0]],
        "close": len(ranked) > 1 and ranked[1][1] < CLOSE,
        "lost": lost,
        "strength": _strength(lost),
        "ranking": ", ".join(f"{clean(name)} {factor_text(f)}" for name, f in ranked[:RANKED]),
    }


def _strength(lost: float) -> int:
    return round(12 + 33 * math.log(min(lost, MISS)) / math.log(MISS))
