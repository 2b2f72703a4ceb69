"""`orthobench reproduce`: what it passes on, prints and exits with, on a paper of two claims."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from orthobench_papers.reproduce import command
from orthobench_papers.reproduce.claims import Claim, Measurement, Paper, Verdict

from orthobench.cli.main import main
from orthobench.registry.plugins import Plugin, Provided, Registry


def measured(verdict):
    return lambda evidence: Measurement(verdict, evidence.sized(1.0, 2.0, 4.0), (0.5, 3.0), "ratio")


@pytest.fixture
def reproduce(monkeypatch, tmp_path):
    """Call the command for a paper whose second claim has this verdict; and what is published."""
    monkeypatch.chdir(tmp_path)
    published = []

    def write(paper, checked, runs, page):
        published.append((checked, runs, page))
        return [page / "README.md"]

    def call(*words, verdict=Verdict.HOLDS):
        claims = (
            Claim("first", "It holds.", "Figure 1", measured(Verdict.HOLDS)),
            Claim("second", "It falls.", "Table 2", measured(verdict)),
        )
        paper = Paper("toys-2020", "A. Author, Toys", claims, tmp_path / "suites")
        known = Registry()
        known.papers = {"toys-2020": Provided(paper, Plugin("toys"))}
        monkeypatch.setattr(command, "catalogue", lambda: known)
        monkeypatch.setattr(command, "publish_page", write)
        return CliRunner().invoke(main, ["reproduce", *words])

    call.published = published
    return call


def test_papers_are_listed_with_their_claims(reproduce):
    assert reproduce().stdout.splitlines() == [
        "toys-2020  A. Author, Toys",
        f"    {'first':<32} Figure 1", f"    {'second':<32} Table 2",
        "orthobench reproduce NAME checks the claims of one",
    ]  # fmt: skip
    assert json.loads(reproduce("--json").stdout) == [
        {"name": "toys-2020", "reference": "A. Author, Toys", "claims": ["first", "second"]}
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--quick"], "name a paper"), (["--publish"], "name a paper"),
        (["--claim", "first"], "name a paper"), (["toys-202"], "did you mean 'toys-2020'"),
        (["toys-2020", "--out", "page"], "add --publish"),
        (["toys-2020", "--publish", "--claim", "first"], "publish without --claim"),
        (["toys-2020", "--claim", "firs"], "did you mean 'first'"),
        (["toys-2020", "--first-seed", "-1"], "'--first-seed'"),
        (["toys-2020", "--publish", "--smoke"], "leave --smoke out"),
        (["--smoke"], "name a paper"), (["toys-2020", "--stale"], "--stale lists all pages"),
    ],
)  # fmt: skip
def test_options_that_exclude_each_other_are_refused(reproduce, words, said, tmp_path):
    done = reproduce(*words)
    assert done.exit_code == 2
    assert said in done.stderr
    assert reproduce.published == []


@pytest.mark.parametrize(
    ("verdict", "code", "next_"),
    [(Verdict.HOLDS, 0, "--first-seed 1000 checks"), (Verdict.FAILS, 1, "find the change")],
)
def test_a_verdict_that_is_not_the_published_one_fails(reproduce, verdict, code, next_):
    done = reproduce("toys-2020", "-q", verdict=verdict)
    assert done.exit_code == code
    *lines, last = done.stdout.splitlines()
    assert lines[0] == "holds  Figure 1  first"
    assert f"{verdict.value}  Table 2  second" in lines
    assert last.startswith(f"next: {next_}")
    assert any("here 1 [0.500, 3]: ratio" in line for line in lines)


def test_a_page_is_published_where_it_is_asked_for(reproduce, tmp_path):
    done = reproduce("toys-2020", "--publish", "--first-seed", "7", "-w", "2", "-q")
    ((checked, runs, page),) = reproduce.published
    assert [one.claim.name for one in checked] == ["first", "second"]
    assert (page, page.is_dir()) == (Path("reports/toys-2020"), True)
    assert "reports/toys-2020/README.md" in done.stdout
    assert (runs.folder, runs.first_seed, runs.workers, runs.quiet) == (
        Path("orthobench-results/toys-2020"), 7, 2, True
    )  # fmt: skip
    done = reproduce("toys-2020", "--publish", "-o", "page", "--store", "runs", "--json")
    _, runs, page = reproduce.published[-1]
    assert (page, runs.folder) == (Path("page"), Path("runs"))
    assert "page/README.md" in done.stderr
    assert len(json.loads(done.stdout)) == 2
