"""Listings of installed things: facts, tables and pages."""

from dataclasses import dataclass
from typing import ClassVar

import click
import pytest

from orthobench.contract.parameters import parameter
from orthobench.registry.plugins import Plugin, Provided, Registry
from orthobench.report.terminal import listing

MINE, OTHERS = Plugin("mine", "my-package", "1.2", "my_module"), Plugin("others")


@pytest.fixture
def registry(toys, tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class Wordy(toys.Solver):
        """Does something.

        A long paragraph that goes on and on so that it has to be wrapped where a terminal is no
        wider than that.

        Parameters
        ----------
        rate : float
            Repeated in the table.

        Notes
        -----
        Said in a note.

        - an item
          of a list

        References
        ----------
        A paper that the source names.
        """

        name: ClassVar[str] = "wordy"
        source: ClassVar[str] = "A paper, 2020"
        rate: float = parameter(0.5, help="how fast", above=0, below=1, unit="1/s")
        size: int = parameter(help="how much", low=1)
        kind: str | None = parameter(None, help="which", choices=("a", "b"))

    @dataclass(frozen=True)
    class Elsewhere(toys.Problem):
        """A problem of another family."""

        name: ClassVar[str] = "elsewhere"
        family: ClassVar[str] = "other family"

    path = tmp_path / "small.toml"
    path.write_text('description = "A small one"\nseeds = 3\n')
    found = Registry(plugins={MINE: {}, OTHERS: {}}, broken={"bad": "ImportError: none"})
    found.solvers["wordy"] = Provided(Wordy, MINE)
    found.solvers["power"] = Provided(toys.Solver, OTHERS)
    found.problems["leading-subspace"] = Provided(toys.Problem, OTHERS)
    found.problems["elsewhere"] = Provided(Elsewhere, MINE)
    found.suites["small"] = Provided(path, MINE)
    return found


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")


def plain(lines):
    return [click.unstyle(line) for line in lines]


def test_facts_are_of_each_kind_in_alphabetical_order(registry):
    facts = listing.facts(registry)
    assert [*facts] == ["solvers", "problems", "suites", "plugins"]
    assert [row["name"] for row in facts["solvers"]] == ["power", "wordy"]
    assert [row["name"] for row in facts["problems"]] == ["elsewhere", "leading-subspace"]
    families = {row["family"] for row in facts["problems"]}
    assert facts["solvers"][1]["families"] == sorted(families)
    assert len(families) == 2
    assert facts["suites"][0]["summary"] == "A small one"
    assert facts["plugins"] == [
        {"name": "mine", "summary": "my-package 1.2", "plugin": "mine",
         "distribution": "my-package", "version": "1.2"},
        {"name": "others", "summary": " ", "plugin": "others", "distribution": "", "version": ""},
        {"name": "bad", "summary": "broken: ImportError: none", "broken": "ImportError: none"},
    ]  # fmt: skip


def test_tables_have_a_title_for_each_kind_and_family(registry):
    facts = listing.facts(registry)
    lines = plain(listing.tables(facts))
    assert lines[-1] == "orthobench show NAME tells more of each"
    at = lines.index("problems: other family")
    assert lines[at + 1 : at + 3] == ["elsewhere  A problem of another family.", ""]
    toys = lines[lines.index("problems: toys") + 1 :]
    assert toys[0].startswith("leading-subspace  ")
    assert toys[1] == ""
    assert lines[lines.index("suites") + 1] == "small  A small one"
    mine, others, bad = (lines[lines.index("plugins") + i] for i in (1, 2, 3))
    assert (mine, others.rstrip(), bad) == (
        "mine    my-package 1.2", "others", "bad     broken: ImportError: none",
    )  # fmt: skip


def test_a_page_has_all_but_what_the_table_repeats(registry):
    lines = plain(listing.page(listing.details(registry, "wordy")))
    assert lines[:3] == [
        "wordy, a solver from my-package 1.2",
        f"Family: {', '.join(listing.details(registry, 'wordy')['families'])}",
        "Source: A paper, 2020",
    ]
    text = "\n".join(lines)
    assert "Repeated in the table" not in text
    assert "A paper that the source names" not in text
    assert "Notes\n-----\n\nSaid in a note.\n" in text
    assert "- an item\n  of a list\n" in text
    at = lines.index("parameters")
    meanings = dict(line.split(maxsplit=1) for line in lines[at + 1 :])
    assert meanings["rate"] == "how fast (float > 0 and < 1; unit: 1/s; default 0.5)"
    assert meanings["size"] == "how much (int >= 1; required)"
    assert meanings["kind"] == "which (a | b; default none)"


def test_a_suite_is_shown_as_it_is_written(registry):
    lines = plain(listing.page(listing.details(registry, "small")))
    assert lines == [
        "small, a suite from my-package 1.2",
        "",
        'description = "A small one"\nseeds = 3\n',
    ]
