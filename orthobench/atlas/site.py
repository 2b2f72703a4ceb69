"""The site of an atlas: a page that says what to use for each family, and a page a family."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from orthobench._version import __version__
from orthobench.atlas.answers import (
    NOBODY,
    NUMBERS,
    VIEWS,
    origin,
    short,
    titled,
    views,
    with_records,
)
from orthobench.atlas.collect import collect
from orthobench.atlas.describe import described
from orthobench.atlas.table import Atlas, rounded, write
from orthobench.decide.answer import Answer
from orthobench.decide.rule import Comparison, Verdict
from orthobench.decide.wording import MARKS, factor_text, mark, verdict_text
from orthobench.errors import UsageError
from orthobench.tools.formatting import clean, number

if TYPE_CHECKING:
    from jinja2 import Environment

TABLE = "atlas.parquet"
MANIFEST = ".orthobench-atlas.json"
"""Lists the files of a site, which may be replaced by a new one."""


@dataclass(frozen=True)
class Cell:
    """A solver on a problem, as a page shows it.

    Attributes
    ----------
    mark : str
        A key of `orthobench.decide.wording.MARKS`, or nothing.
    text : str
        The factor of its cost, or what is decided instead.
    absent : bool
        Whether it takes no part.
    """

    mark: str
    text: str
    absent: bool


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
        Where the folder has files that are not of a site, or jinja2 or pyarrow is missing.
    """
    refuse_foreign(folder)
    atlas = rounded(atlas)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as there:
        new = Path(there) / "site"
        new.mkdir()
        write(atlas, new / TABLE)
        for name, text in pages(atlas):
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
    environment = _environment()
    answers = {kind: views(rows) for kind, rows in atlas.kinds.items()}
    shared = {
        "version": __version__, "origin": origin(atlas), "marks": MARKS,
        "css": resources.files(__package__).joinpath("site.css").read_text(encoding="utf-8"),
    }  # fmt: skip
    kinds = [
        (titled(kind, rows), address(kind), [_short(answers[kind].get(view)) for view in VIEWS])
        for kind, rows in atlas.kinds.items()
    ]
    index = environment.get_template("site_index.html")
    yield "index.html", index.render(shared, kinds=kinds, views=list(VIEWS), numbers=NUMBERS)
    family = environment.get_template("site_family.html")
    for kind, rows in atlas.kinds.items():
        sections = [(view, one, matrix(one)) for view, one in answers[kind].items()]
        yield address(kind), family.render(shared, kind=titled(kind, rows), sections=sections)


def matrix(one: Answer) -> tuple[list[str], list[tuple[str, list[Cell]]]]:
    """Return the solvers, the one to use first, and for each problem its cells."""
    rest = [standing.solver for standing in one.alternatives]
    solvers = [one.solver, *rest] if one.solver else rest
    return solvers, [(c.problem, [_cell(c, solver) for solver in solvers]) for c in one.comparisons]


def _cell(comparison: Comparison, solver: str) -> Cell:
    decision = comparison.of(solver)
    if decision.verdict is Verdict.ABSENT:
        return Cell("", "", True)
    text = factor_text(decision.factor) if decision.as_good else verdict_text(decision)
    return Cell(mark(comparison, solver), text, False)


def _short(one: Answer | None) -> str:
    return short(one) if one else NOBODY


def address(kind: str) -> str:
    """Return the file name of the page about a kind of problems; it depends on its name alone."""
    plain = re.sub(r"[^a-z0-9]+", "-", kind.lower()).strip("-")[:60]
    if kind.lower() not in (plain, plain.replace("-", " ")):
        plain += "-" + hashlib.sha256(kind.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"family-{plain}.html"


def _environment() -> Environment:
    """Return what renders the templates of this folder.

    Raises
    ------
    UsageError
        If jinja2 is missing.
    """
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise UsageError("a site needs jinja2: pip install 'orthobench[report]'") from None
    folder = resources.files(__package__)
    environment = Environment(
        loader=FunctionLoader(lambda name: folder.joinpath(name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"clean": clean, "number": number}
    return environment
