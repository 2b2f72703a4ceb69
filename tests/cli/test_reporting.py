"""`orthobench report`: its files and its output, and refusals before it begins."""

import json
import shutil
from functools import partial

import click
import pytest
from commands import typed

from orthobench import api
from orthobench.registry.suite_file import from_table

TABLE = {
    "seeds": 5,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace"}],
    "solver": [{"name": "power"}, {"name": "power", "fault": "raise"}],
}


@pytest.fixture(scope="module")
def filled(toys, tmp_path_factory):
    """A store of two suites; in both, the runs of one solver failed."""
    path = tmp_path_factory.mktemp("filled") / "results.sqlite"
    for name in ("first", "second"):
        api.run(from_table(TABLE, name, toys.registry), path, executor="inline", quiet=True)
    return path


@pytest.fixture
def store(filled, tmp_path):
    path = tmp_path / "kept" / "results.sqlite"
    path.parent.mkdir()
    return shutil.copy(filled, path)


@pytest.fixture
def called(monkeypatch):
    """The arguments of the functions that write pages and figures, which do nothing else here."""
    calls = {}

    def write_page(results, folder):
        calls["page"] = (results.suite, folder)
        (folder / "index.html").write_text("a page")
        return folder / "index.html"

    def save_figures(entries, folder, **options):
        calls["figures"] = folder, {**options, "exhibits": callable(options["exhibits"])}
        return [folder / "a.svg", folder / "a.pdf"]

    monkeypatch.setattr("orthobench.report.page.write_page", write_page)
    monkeypatch.setattr("orthobench.report.figures.save.save_figures", save_figures)
    return calls


call = partial(typed, "report")


@pytest.mark.parametrize("place", ["file", "folder"])
def test_the_page_is_written_beside_the_store(store, called, place):
    shown = call(store if place == "file" else store.parent).stdout
    folder = store.parent / "report"
    assert called == {"page": ("second", folder)}
    assert "Use power" in shown
    assert "ZeroDivisionError" not in shown
    assert max(map(len, shown.replace(str(folder), "").splitlines())) <= 80
    assert str(folder / "index.html") in shown.splitlines()


def test_a_style_writes_the_figures_too(store, called):
    shown = call(store, "--style", "one-column").stdout
    folder = store.parent / "report" / "figures"
    options = {"style": "one-column", "exhibits": True}
    assert called["figures"] == (folder, options)
    assert f"{folder / 'a.svg'}" in shown.splitlines()


def test_facts_are_also_json(store, called):
    facts = json.loads(call(store, "--json", "--style", "screen").stdout)
    assert facts.keys() == {"suite", "answer", "table", "files"}
    assert facts["answer"]["use"] == "power"
    assert [row["runs"]["failed"] for row in facts["table"]] == [0, 5]
    assert [file.rpartition(".")[2] for file in facts["files"]] == ["html", "svg", "pdf"]


def test_the_page_is_opened_on_request(store, called, monkeypatch):
    opened = []
    monkeypatch.setattr(click, "launch", opened.append)
    call(store)
    assert not opened
    call(store, "--open")
    assert opened == [(store.parent / "report" / "index.html").as_uri()]


def test_wrong_calls_exit_with_2_and_write_nothing(store, called):
    before = sorted(store.parent.rglob("*"))
    for words, said in (
        (["nothing.sqlite"], "there is no store nothing.sqlite"),
        (["STORE", "--suite", "frist"], "did you mean 'first'"),
        (["STORE", "--out", "STORE"], "is a file"),
        (["STORE", "--out", "STORE/below"], "cannot write the report to"),
        (["STORE", "--style", "three-column"], "two-column"),
    ):
        result = call(*(word.replace("STORE", str(store)) for word in words), code=2)
        assert said in " ".join(result.stderr.split()), words
        assert "Traceback" not in result.output, words
        assert not called, words
        assert sorted(store.parent.rglob("*")) == before, words
