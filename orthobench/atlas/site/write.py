"""Writing of the site of an atlas: all of its files, or none."""

from __future__ import annotations

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orthobench._version import __version__
from orthobench.atlas import table
from orthobench.atlas.answers import answers
from orthobench.atlas.site import tables
from orthobench.atlas.site.content import (
    Contest,
    Site,
    answer_page,
    family_page,
    features_text,
    parameters_text,
    problem_page,
    search_index,
    solver_page,
)
from orthobench.atlas.site.names import slug
from orthobench.atlas.site.plots import plots
from orthobench.atlas.table import WITHDRAWN, Atlas, AtlasRow
from orthobench.atlas.wording import COLUMNS, NOBODY, NUMBERS, titled
from orthobench.errors import UsageError
from orthobench.report.formatting import clean
from orthobench.report.page.plot_data import plot_data
from orthobench.report.page.styles import REFERENCES
from orthobench.report.page.write import SCRIPTS, environment, scripted
from orthobench.report.page.write import resource as of_report
from orthobench.tools.files import make_folder, refuse_link

if TYPE_CHECKING:
    from jinja2 import Environment

TABLE = "atlas.parquet"
"""The file with the table of runs."""

MANIFEST = ".orthobench-atlas.json"
"""The file that names all others of a site: what is not in it is not replaced."""

TIER_TEXTS = {
    "reported": "as it was handed in",
    "recomputed": "computed again by those who publish this atlas, with the same outcome",
    "timed": "measured by them on the reference machine, so that its seconds count, too",
    "withdrawn": "shown with the reason, and compared with nothing",
}
"""What the tiers mean."""


def write_site(
    atlas: Atlas,
    folder: Path,
    reports: Mapping[str, Path] | None = None,
) -> Path:
    """Write the site of an atlas, and the atlas itself; all of it or nothing.

    Equal atlases give equal files, byte for byte.

    Parameters
    ----------
    atlas : Atlas
    folder : Path
        Does not exist, is empty, or has a site and nothing else: that is replaced.
    reports : mapping, optional
        The folder of the report about each suite; the site gets a copy.

    Returns
    -------
    Path
        ``folder/index.html``.

    Raises
    ------
    UsageError
        Where the folder has other files, cannot be written, or a package is missing.
    """
    refuse_foreign(folder)
    atlas = table.rounded(atlas)  # so that pages say what is computed from the file
    copied = {suite: f"report-{slug(suite)}/index.html" for suite in reports or {}}
    site = Site(atlas, tuple(answers(atlas)), copied)
    make_folder(folder.parent, "the site")
    with tempfile.TemporaryDirectory(prefix=".orthobench-", dir=folder.parent) as there:
        part = Path(there) / "site"
        part.mkdir()
        table.write(atlas, part / TABLE)
        for name, text in _files(site):
            _write(part / name, text)
        for suite, address in copied.items():
            shutil.copytree((reports or {})[suite], (part / address).parent)
        _write_manifest(part)
        _exchange(part, folder, Path(there) / "before")
    return folder / "index.html"


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder that has anything but a site.

    Raises
    ------
    UsageError
    """
    refuse_link(folder)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write the site to {folder}: it is no folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return
    known: object = None
    with suppress(OSError, ValueError):
        known = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    names = {*known, MANIFEST} if isinstance(known, list) else set()
    foreign = sorted(set(_names(folder)) - names)
    if foreign:
        raise UsageError(
            f"{folder} has files that are not of an atlas, such as {foreign[0]!r}, and a site "
            "replaces its folder: name another one"
        )


def _write(path: Path, text: str) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"two names give one page, {path.name}: rename one of them") from None


def _names(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()]


def _write_manifest(folder: Path) -> None:
    text = json.dumps(sorted(_names(folder)), indent=0)
    (folder / MANIFEST).write_text(text, encoding="utf-8", newline="\n")


def _exchange(new: Path, folder: Path, old: Path) -> None:
    """Put a folder in the place of another one, which goes to `old`."""
    try:
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
    except OSError as error:
        if old.exists() and not folder.exists():
            old.rename(folder)
        raise UsageError(f"cannot write {folder}: {error.strerror or error}") from None


def _files(site: Site) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all files."""
    pages = _Pages(site)
    yield "atlas.css", pages.style()
    yield "index.html", pages.index()
    for family in site.families:
        yield family_page(family), pages.family(family)
    for solver in site.solvers:
        yield solver_page(solver), pages.solver(solver)
    for contest in site.problems:
        yield problem_page(contest), pages.problem(contest)


class _Pages:
    """Renders the pages of a site."""

    def __init__(self, site: Site) -> None:
        self.site, self.environment = site, _environment()
        self.environment.globals.update(
            site=site, slug=slug, family_page=family_page, solver_page=solver_page,
            problem_page=problem_page, answer_page=answer_page, version=__version__,
            references=REFERENCES, tier_texts=TIER_TEXTS,
        )  # fmt: skip

    def render(self, template: str, title: str, **values: Any) -> str:
        shared = SCRIPTS if values.get("data") else ("elements.js",)
        values = {"trail": "", "data": "", **values}
        known = self.site.styles
        values["styles"] = {name: known[name] for name in values.pop("keys", ()) if name in known}
        return self.environment.get_template(template).render(
            title=clean(title),
            **scripted([*map(of_report, shared), _resource("atlas.js")]),
            **values,
        )

    def style(self) -> str:
        """Return the style sheet: that of reports, the atlas's own, and colours of solvers."""
        shared: Any = self.environment.get_template("plots.html").module
        colours = shared.colours(self.site.styles)
        return "\n".join((of_report("page.css"), _resource("atlas.css"), colours))

    def index(self) -> str:
        return self.render(
            "index.html", "Which method should I use?", contests=_contests,
            index=search_index(self.site), columns=COLUMNS, numbers=NUMBERS, nobody=NOBODY,
            titled=titled,
            keys=dict.fromkeys(one.answer.solver for one in self.site.answers),
        )  # fmt: skip

    def family(self, family: str) -> str:
        site, rows = self.site, self.site.families[family]
        standings, problems = tables.standings(site, family), _contests(rows)
        counted = [row for row in rows if row.tier != WITHDRAWN]
        drawn = plots(family, counted, site.costs(family)) if counted else []
        styles = {s: one for s, one in site.styles.items() if s in {r.solver for r in rows}}
        return self.render(
            "family.html", family, trail="family", own=site.of_family(family),
            silent=site.silent(family),
            standings=standings, problems=problems, plots=drawn,
            keys=list(styles),
            matrix=[
                (c, [tables.cell(site.compared.get(c), one.solver) for one in standings])
                for c in problems
            ],
            data=plot_data(drawn, site.styles).data if drawn else "",
            reports=[s for s in dict.fromkeys(row.suite for row in rows) if s in site.reports],
        )  # fmt: skip

    def solver(self, solver: str) -> str:
        rows = self.site.solvers[solver]
        found = tables.rows_of(self.site, rows)
        kinds = {row.contest: row.cell.kind for row in found}
        return self.render(
            "solver.html", solver, trail="solver", rows=found, contests=list(kinds),
            failed=sum(row.failed for row in rows),
            named=[one for one in self.site.answers if one.answer.solver == solver],
            best=[contest for contest, kind in kinds.items() if kind == "best"],
            close=[contest for contest, kind in kinds.items() if kind in ("close", "equal")],
            reasons=[(row.contest, row.reasons) for row in found if row.reasons],
            parameters=[(r.contest, list(map(parameters_text, r.parameters))) for r in found],
        )  # fmt: skip

    def problem(self, contest: Contest) -> str:
        rows = self.site.problems[contest]
        first, found = rows[0], tables.rows_of(self.site, rows)
        compared = self.site.compared.get(contest)
        own = first.problem.removesuffix(first.level)  # runs are the same at each level
        return self.render(
            "problem.html", self.site.label(contest), trail="problem", contest=contest,
            family=self.site.family[contest], name=first.name, features=features_text(first),
            settings=parameters_text(first.parameters),
            metric=clean(first.metric.replace("_", " ")),
            sentence=tables.factor_sentence(compared) if compared else "All of it is withdrawn.",
            rows=found, keys=list(dict.fromkeys(row.solver for row in found)),
            reasons=[(row.solver, row.reasons) for row in found if row.reasons],
            command=clean(f"{shlex.quote(first.suite)} --only {shlex.quote(f'{own} *')}"),
            parameters=[(r.solver, list(map(parameters_text, r.parameters))) for r in found],
            report=self.site.reports.get(contest[0], ""),
        )  # fmt: skip


def _contests(rows: Sequence[AtlasRow]) -> list[Contest]:
    return list(dict.fromkeys(row.contest for row in rows))


def _environment() -> Environment:
    """Return what renders the templates of this folder.

    Raises
    ------
    UsageError
        If jinja2 is missing.
    """
    known = environment()
    from jinja2 import FunctionLoader

    found = known.overlay(loader=FunctionLoader(_template))
    found.globals = dict(known.globals)
    return found


def _template(name: str) -> str:
    return of_report(name) if name == "plots.html" else _resource(name)


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
