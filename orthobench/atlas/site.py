"""The site of an atlas: a page that says what to use for each family, and a page a family."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

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
from orthobench.atlas.collect import collect, described
from orthobench.atlas.losses import Losses, losses, members
from orthobench.atlas.picture import WORDS, cost_lines, drawn
from orthobench.atlas.table import Atlas, AtlasRow, read, write
from orthobench.decide.answer import Answer
from orthobench.errors import UsageError
from orthobench.registry.plugins import catalogue
from orthobench.report.page.write import environment, resource

TABLE = "atlas.parquet"
MANIFEST = ".orthobench-atlas.json"
"""Lists the files of a site, which may be replaced by a new one."""


def build(stores: Sequence[Path], folder: Path) -> Path:
    """Write the site of some stores, and their atlas; return the path of its first page.

    Parameters
    ----------
    stores : sequence of Path
    folder : Path
        Does not exist, is empty, or has a site and nothing else.
    """
    refuse_foreign(folder)  # before anything takes its time
    return write_site(with_records(described(collect(stores))), folder)


def write_site(atlas: Atlas, folder: Path) -> Path:
    """Write the site of an atlas, all of it or nothing; return the path of its first page.

    Raises
    ------
    UsageError
        If the folder has files that are not of a site.
    """
    refuse_foreign(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as there:
        new = Path(there) / "site"
        new.mkdir()
        write(atlas, new / TABLE)
        for name, text in pages(read(new / TABLE)):  # whose numbers have fewer digits
            (new / name).write_text(text, encoding="utf-8", newline="\n")
        names = sorted(path.name for path in new.iterdir())
        (new / MANIFEST).write_text(json.dumps(names, indent=0), encoding="utf-8", newline="\n")
        if folder.exists():
            shutil.move(folder, Path(there) / "old")
        shutil.move(new, folder)
    return folder / "index.html"


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files that are not of a site, which would be replaced.

    Raises
    ------
    UsageError
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write the site to {folder}: it is no folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    manifest: object = None
    with suppress(OSError, ValueError):
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    names = {*manifest, MANIFEST} if isinstance(manifest, list) else set()
    foreign = sorted({path.name for path in folder.iterdir()} - names)
    if foreign:
        raise UsageError(
            f"{folder} has files that are not of an atlas, such as {foreign[0]!r}, and a site "
            "replaces its folder: name another one"
        )


def pages(atlas: Atlas) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all pages."""
    templates = environment(__package__)
    shared = {
        "version": __version__, "origin": origin(atlas),
        "css": resource("site.css", __package__),
    }  # fmt: skip
    cards, others = [], []
    family = templates.get_template("site_family.html")
    for kind, rows in atlas.kinds.items():
        found = {view: losses(rows, cost, tol) for view, (cost, tol) in VIEWS.items()}
        sections = [_section(view, one, found[view]) for view, one in views(rows).items()]
        title = titled(kind, rows)
        yield (
            address(kind),
            family.render(
                shared,
                kind=title,
                sections=sections,
                words=WORDS,
                costs={v: cost for v, (cost, _) in VIEWS.items()},
                changed=changed(rows),
            ),
        )
        if kind != rows[0].family:
            others.append((title, address(kind)))
        elif sections and sections[0][2]:
            _, one, picture, *_ = sections[0]
            cards.append((title, address(kind), short(one), picture, everyday(rows)))
    index = templates.get_template("site_index.html")
    yield "index.html", index.render(shared, cards=cards, others=others, numbers=NUMBERS)


def _section(view: str, one: Answer, found: Losses) -> tuple[Any, ...]:
    """Return the answer in one view, with its map, lines of cost and table of solvers."""
    if not one.use:
        return view, one, None, None, []
    picture = drawn(found, one.solver)
    return view, one, picture, cost_lines(found, picture["legend"]), list(members(found))


def everyday(rows: Sequence[AtlasRow]) -> str:
    """Return the words by which a search finds a kind of problems: what its family says."""
    family, known = rows[0].family, catalogue().problems
    own = {name: p.item for name, p in known.items() if p.item.family == family}
    docs = [(inspect.getdoc(cls) or "").partition("\n\n")[0] for cls in own.values()]
    solvers = dict.fromkeys(row.solver_name for row in rows)
    return " ".join([family, *own, *docs, *solvers]).lower()


def address(kind: str) -> str:
    """Return the file name of the page about a kind of problems; it depends on its name alone."""
    plain = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:60]
    if kind.lower() not in (plain, plain.replace("-", " ")):
        plain += "-" + hashlib.sha256(kind.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"family-{plain}.html"
