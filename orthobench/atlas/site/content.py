"""The content of a site as plain data, which the templates only lay out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from orthobench.atlas.answers import AtlasAnswer, costs
from orthobench.atlas.choice import favourites
from orthobench.atlas.regimes import LOWEST, Compared, compared
from orthobench.atlas.site.names import page, slug
from orthobench.atlas.table import TIERS, WITHDRAWN, Atlas, AtlasRow, settings
from orthobench.atlas.wording import COLUMNS
from orthobench.report.formatting import assignments, clean, number, plural
from orthobench.report.page.styles import BrowserStyle, browser_styles
from orthobench.report.style import solver_styles
from orthobench.tools.collections import grouped

Contest = tuple[str, str]
"""A suite and the label of a problem."""


@dataclass(frozen=True)
class Site:
    """All that pages are made of.

    Attributes
    ----------
    atlas : Atlas
    answers : tuple of AtlasAnswer
    reports : mapping
        The address of the report about each suite, where there is one.
    """

    atlas: Atlas
    answers: tuple[AtlasAnswer, ...]
    reports: Mapping[str, str] = field(default_factory=dict)

    @property
    def families(self) -> dict[str, list[AtlasRow]]:
        """The rows of each family; of each kind of problems where it has several."""
        return self.atlas.kinds

    @cached_property
    def family(self) -> dict[Contest, str]:
        """The family of each problem."""
        return {row.contest: name for name, rows in self.families.items() for row in rows}

    @cached_property
    def solvers(self) -> dict[str, list[AtlasRow]]:
        """The rows of each solver."""
        found = grouped(self.atlas.rows, lambda row: row.solver)
        return {name: found[name] for name in sorted(found)}

    @cached_property
    def problems(self) -> dict[Contest, list[AtlasRow]]:
        """The rows of each problem, those withdrawn too."""
        return grouped(self.atlas.rows, lambda row: row.contest)

    @cached_property
    def compared(self) -> dict[Contest, Compared]:
        """Each problem, compared by the final value."""
        return {one.rows[0].contest: one for one in compared(self.atlas.rows, LOWEST)}

    @cached_property
    def styles(self) -> dict[str, BrowserStyle]:
        """The style of each solver."""
        return browser_styles(solver_styles(self.solvers))

    def of_family(self, family: str) -> list[AtlasAnswer]:
        """Return the answers of a family."""
        return [one for one in self.answers if one.family == family]

    def silent(self, family: str) -> list[str]:
        """Return the situations that other families have answers in and this one has not."""
        own = {one.situation.name for one in self.of_family(family)}
        names = dict.fromkeys(one.situation.name for one in self.answers)
        return [name for name in names if name not in own]

    def costs(self, family: str) -> list[str]:
        """Return the costs that the solvers of a family can be compared by."""
        return costs([row for row in self.families[family] if row.tier != WITHDRAWN])

    def label(self, contest: Contest) -> str:
        """Return the name of a problem for people."""
        suite, problem = contest
        several = sum(other == problem for _, other in self.problems) > 1
        return clean(f"{problem} ({suite})" if several else problem)

    @property
    def favourites(self) -> dict[str, list[list[tuple[str, str]]]]:
        """The table of README: of each family, who is as good as the best in each of `COLUMNS`.

        Solvers, each with the number of its problems: ``("oja", "2"), ("msg", "3 of 5")``.
        """
        found = {(one.family, one.situation.name): one.compared for one in self.answers}
        return {
            kind: [_favourites(found.get((kind, name), ())) for name in COLUMNS]
            for kind in self.families
        }

    @property
    def tiers(self) -> list[tuple[str, int]]:
        """The number of results of each tier."""
        counts = Counter(row.tier for row in self.atlas.rows)
        return [(tier, counts[tier]) for tier in TIERS]

    @property
    def counts(self) -> tuple[str, ...]:
        """The numbers of families, problems, solvers, seeds and runs."""
        rows = self.atlas.rows
        families = f"{len(self.families)} famil{'y' if len(self.families) == 1 else 'ies'}"
        return (
            families,
            plural(len(self.problems), "problem"),
            plural(len(self.solvers), "solver"),
            plural(len({row.seed for row in rows}), "seed"),
            plural(len(rows), "run"),
        )

    @property
    def date(self) -> str:
        """The day of the latest results; empty where it is unknown."""
        return clean(str(self.atlas.about.get("date", "")))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Where the results come from."""
        about = self.atlas.about
        machines, versions = about.get("machines", []), about.get("versions", {})
        facts = {
            "results of": self.date,
            "machine": "; ".join(map(str, machines if isinstance(machines, list) else [])),
            "suites": ", ".join(dict.fromkeys(row.suite for row in self.atlas.rows)),
            **(versions if isinstance(versions, dict) else {}),
        }
        known = [(clean(str(name)), clean(str(value))) for name, value in facts.items()]
        return [fact for fact in known if fact[1] not in ("", "none")]


def _favourites(problems: Sequence[Compared]) -> list[tuple[str, str]]:
    named = [(solver, str(count)) for solver, count in favourites(problems)]
    return [*named[:-1], *((last, f"{count} of {len(problems)}") for last, count in named[-1:])]


def family_page(family: str) -> str:
    """Return the address of the page about a family."""
    return page("family", family)


def solver_page(solver: str) -> str:
    """Return the address of the page about a solver."""
    return page("solver", solver)


def problem_page(contest: Contest) -> str:
    """Return the address of the page about a problem."""
    return f"problem-{slug(contest[0])}-{slug(contest[1])}.html"


def search_index(site: Site) -> list[tuple[str, str, str]]:
    """Return title, kind and address of all that can be searched for."""
    return [
        *((clean(name), "family", family_page(name)) for name in site.families),
        *((clean(name), "solver", solver_page(name)) for name in site.solvers),
        *((site.label(one), "problem", problem_page(one)) for one in site.problems),
        *(
            (clean(f"{one.family}: {one.situation.name}"), "answer", answer_page(one))
            for one in site.answers
        ),
    ]


def answer_page(one: AtlasAnswer) -> str:
    """Return the address of an answer."""
    return f"{family_page(one.family)}#{slug(one.situation.name)}"


def features_text(row: AtlasRow) -> list[str]:
    """Return what is known of the data of a problem."""
    known = {
        "d": row.d or None, "k": row.k or None, "rows": row.rows or None, "decay": row.decay,
        "share of noise": row.noise, "share of zeros": row.sparsity,
    }  # fmt: skip
    return [f"{name} {number(v)}" for name, v in known.items() if v is not None and v == v]


def parameters_text(text: str) -> str:
    """Return parameters in JSON as ``step=2, K=9``."""
    return assignments(settings(text))
