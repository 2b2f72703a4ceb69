"""Links that a stranger planted where a command writes: it refuses them and names them."""

import shutil

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main

RUN = ("run", "-p", "digits k=1", "-s", "incremental-pca", "--seeds", "1", "--samples", "20",
       "--executor", "inline")  # fmt: skip
MINE = "alias ll='ls -l'\n"


@pytest.fixture
def folder(filled, tmp_path, monkeypatch):
    """Return a stranger's folder with a store, beside files and a folder of the user."""
    (tmp_path / "mine").write_text(MINE)
    (tmp_path / "empty").write_text("")
    (tmp_path / "elsewhere").mkdir()
    kept = tmp_path / "stranger"
    kept.mkdir()
    shutil.copy(filled, kept / "results.sqlite")
    monkeypatch.chdir(kept)
    return kept


def planted(folder, link, target):
    path = folder / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(folder.parent / target)


def untouched(folder):
    elsewhere = list((folder.parent / "elsewhere").iterdir())
    return (folder.parent / "mine").read_text() == MINE and not elsewhere


DRAWN = {
    "report/figures/.toys-performance-profiles.svg.part", "report/index.html", "report/figures",
    "orthobench-results/command-line/figures",
}  # fmt: skip


def quick(links, slow):
    return [pytest.param(link, marks=[pytest.mark.slow] * (link in slow)) for link in links]


TARGETS = {
    "report": ("elsewhere", ("report", ".")),
    "report/index.html": ("mine", ("report", ".")),
    "report/figures": ("elsewhere", ("report", ".", "--style", "one-column")),
    "out.csv": ("mine", ("export", ".", "--out", "out.csv")),
    "orthobench-results": ("elsewhere", RUN),
    "orthobench-results/command-line": ("elsewhere", RUN),
    "orthobench-results/command-line/figures": ("elsewhere", RUN),
    "orthobench-results/command-line/results.sqlite": ("empty", RUN),
    "results.sqlite-wal": ("mine", (*RUN, "--store", "results.sqlite", "--no-figures")),
    "results.sqlite-journal": ("mine", ("merge", "results.sqlite", "other.sqlite")),
    "results.sqlite-shm": ("mine", ("merge", "results.sqlite", "other.sqlite")),
    "results.sqlite-lock": ("mine", ("merge", "results.sqlite", "other.sqlite")),
    "all.sqlite": ("empty", ("merge", "all.sqlite", "other.sqlite")),
    "reports": ("elsewhere", ("reproduce", "msg-2013", "--quick", "--publish")),
    "orthobench-results/msg-2013": (
        "elsewhere",
        ("reproduce", "msg-2013", "--claim", "algorithm-2-as-printed"),
    ),
    "mine": ("elsewhere", ("plugin", "new", "mine")),
}


@pytest.mark.parametrize("link", quick(TARGETS, DRAWN))
def test_nothing_is_written_through_a_link_below_what_was_named(folder, link):
    target, words = TARGETS[link]
    shutil.copy(folder / "results.sqlite", folder / "other.sqlite")
    planted(folder, link, target)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2, done.output
    assert link in done.stderr
    assert "Traceback" not in done.output
    assert untouched(folder)
    assert (folder.parent / "empty").read_text() == ""


def test_a_folder_that_the_user_names_may_be_a_link(folder):
    planted(folder, "named", "elsewhere")
    assert CliRunner().invoke(main, ["report", ".", "--out", "named"]).exit_code == 0
    assert (folder.parent / "elsewhere" / "index.html").is_file()
