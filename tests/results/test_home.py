"""The home folder of the user is in no store and on no page."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.results.store import Store

FOLDER = "secret project"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run with a home whose name must not be found, and give the store."""
    home = tmp_path_factory.mktemp("homes") / "ada-lovelace"
    folder = home / FOLDER
    folder.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(home))
        patched.setenv("USERPROFILE", str(home))
        patched.chdir(folder)
        yield made(home, folder, patched)


def made(home, folder, patched):
    data = folder / "X.npy"
    np.save(data, np.random.default_rng(0).standard_normal((50, 5)))
    words = ["run", "-p", f"npy-stochastic-pca path='{data}' k=1", "-s", "oja",
             "-s", "capped-msg K=1", "--seeds", "1",
             "--samples", "20", "--executor", "inline", "--no-figures"]  # fmt: skip
    patched.setattr("sys.argv", [str(home / "bin" / "orthobench"), *words])
    assert CliRunner().invoke(main, words).exit_code == 0
    return folder / "orthobench-results" / "command-line" / "results.sqlite"


def test_home_is_a_tilde_in_the_command_of_a_store(run):
    with Store(run) as store:
        command = store.session("command-line")["command"]
    assert command.startswith("~/bin/orthobench run -p ")
    assert "ada-lovelace" not in command


def test_home_is_a_tilde_in_tracebacks(toys, tmp_path, monkeypatch):
    from orthobench.harness.judging import stop_of

    monkeypatch.setenv("HOME", str(tmp_path / "ada-lovelace"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "ada-lovelace"))
    error = RuntimeError(f"{tmp_path / 'ada-lovelace' / 'x'} is gone")
    stop = stop_of(error, "the solver")
    assert "~/x" in stop.reason
    assert "~/x" in stop.traceback
    assert "ada-lovelace" not in stop.reason + stop.traceback


@pytest.mark.wide
def test_a_page_tells_nothing_of_home(run, monkeypatch):
    from orthobench.report.page import write

    pages = []
    original = write.rendered
    monkeypatch.setattr(write, "rendered", lambda page: pages.append(page) or original(page))
    words = ["report", str(run), "--style", "one-column", "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert pages[0]["problems"]
    figures = [path.read_text() for path in (run.parent / "report" / "figures").glob("*.svg")]
    table = json.dumps(json.loads(done.stdout)["table"])
    told = "\n".join([repr(pages[0]), table, *figures])
    assert "X.npy" in told
    assert "ada-lovelace" not in told
