"""The command line as users call it, through the entry points that are installed."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from commands import typed

HERE = ("--executor", "inline")
"""In this process: a worker would import everything anew."""

SUITE = """\
seeds = 2
[budget]
samples = 100
[[problem]]
name = "spiked-covariance"
k = 2
n = 20
[[solver]]
name = "oja"
step = { tune = [0.5, 2] }
[[solver]]
name = "incremental-pca"
"""


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return typed


@pytest.fixture
def suite(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SUITE)
    return path


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """The folder of a run of the suite, what the run printed, and what it prints as JSON."""
    folder = tmp_path_factory.mktemp("ran")
    (folder / "small.toml").write_text(SUITE)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        printed = typed("run", "small.toml", *HERE).stdout
        facts = json.loads(typed("run", "small.toml", *HERE, "--json").stdout)
    return folder, printed, facts


@pytest.fixture
def stored(ran, suite):
    """The facts of a run of the suite, with its store and figures in the current folder."""
    folder, _, facts = ran
    shutil.copytree(folder / "orthobench-results", suite.parent / "orthobench-results")
    return facts


def test_run_prints_an_overview_and_the_paths_of_what_it_wrote(ran):
    root, printed, _ = ran
    assert "incremental-pca" in printed
    assert "spiked-covariance" in printed
    folder = root / "orthobench-results" / "small"
    assert (folder / "results.sqlite").exists()
    pictures = list(folder.rglob("*.png"))
    assert len(pictures) == 1
    assert all(str(p.relative_to(root)) in printed for p in pictures)
    store = folder.relative_to(root) / "results.sqlite"
    *_, runs, tables, page = printed.splitlines()
    assert runs.endswith(f" {store}")
    assert tables.endswith(f" orthobench show {store}")
    assert page.endswith(f" orthobench report {store} --open")


@pytest.mark.wide
def test_run_says_whether_other_runs_disturbed_the_times(call, suite):
    words = ("run", str(suite), "--no-figures", "--store")
    assert "times are of 2 runs at once" in call(*words, "two.sqlite", "-w", "2").stdout
    assert "times are of 2 runs at once" in call(*words, "two.sqlite").stdout
    assert "at once" not in call(*words, "one.sqlite", *HERE).stdout


def test_running_again_does_no_solver_work(call, suite, stored, monkeypatch):
    def forbidden(cell):
        raise AssertionError(cell)

    monkeypatch.setattr("orthobench.harness.executors.execute", forbidden)
    assert json.loads(call("run", str(suite), *HERE, "--json").stdout) == stored


@pytest.mark.usefixtures("stored")
def test_nothing_to_do_imports_no_library_of_numerics_or_figures(call, suite, tmp_path):
    first = call("run", str(suite), *HERE)
    heavy = ("scipy.stats", "numba", "sklearn", "matplotlib")
    code = f"""
import sys
from orthobench.cli.main import main
try:
    main(["run", {str(suite)!r}])
finally:
    print([name for name in {heavy} if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    *lines, loaded = done.stdout.splitlines()
    assert loaded == "[]"
    assert lines == first.stdout.splitlines()


def test_help_imports_neither_numpy_nor_the_metadata_of_distributions(tmp_path):
    code = """
import sys
from orthobench.cli.main import main
try:
    main(["--help"])
finally:
    print([name for name in ("numpy", "importlib.metadata", "rich") if name in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path}\n{code}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("normalization", ["common", "none"])
def test_a_row_that_is_not_finite_is_refused_before_the_run(call, tmp_path, normalization):
    X = np.random.default_rng(0).standard_normal((100, 5))
    X[30, 2] = np.inf
    np.save(tmp_path / "bad.npy", X)
    problem = f"npy-stochastic-pca path=bad.npy k=2 normalization={normalization}"
    result = call("run", "-p", problem, "-s", "incremental-pca", code=2)
    assert "sample 30" in result.stderr
    assert "feature 2" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.npy"]


def test_a_failed_cell_is_named_and_the_exit_code_says_so(call):
    words = ["-p", "digits k=4", "-s", "capped-msg K=2", "-s", "oja", "--seeds", "2"]
    result = call("run", *words, *HERE, "--no-figures", code=1)
    assert "K = 2 is below k = 4" in result.stdout
    assert re.search(r"(?m)^capped-msg.* !$", result.stdout)
    assert "capped-msg K=2: error" in result.stdout


def test_wrong_calls_exit_with_2_and_write_nothing(call, tmp_path):
    for words, said in (
        (["run", "quickstrat"], "did you mean 'quickstart'"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run", "-s", "mgs"], "did you mean 'msg'"),
        (["run", "-p", "digits k=65"], "k must be"),
        (["run", "mnist", "-p", "digits"], "without the suite 'mnist'"),
        (["show", "msg", "--suite", "mnist"], "for a store, which 'msg' is not"),
        (["run", "-p", "digits kk"], "NAME key=value"),
        (["run", "-p", "digits", "-s", "oja step=0"], "step must be > 0"),
        (["run", "-p", "npy-stochastic-pca k=2"], "needs path"),
        (["show", "incremental"], "did you mean"),
        (["show", "nothing.sqlite"], "there is no store nothing.sqlite"),
        (["export", "nothing.sqlite"], "there is no store"),
        (["atlas", "--out", "site"], "'STORES...'"),
        (["merge", "all.sqlite"], "'OTHERS...'"),
        (["verify", "s.sqlite", "--share", "0"], "'--share'"),
    ):
        result = call(*words, code=2)
        assert said in result.stderr, words
        assert "Traceback" not in result.output, words
        assert not list(tmp_path.iterdir()), words


def test_results_are_shown_although_their_figures_cannot_be_written(call, suite, tmp_path):
    folder = tmp_path / "orthobench-results" / "small"
    folder.mkdir(parents=True)
    (folder / "figures").touch()
    result = call("run", str(suite), *HERE, code=2)
    assert "incremental-pca" in result.stdout
    assert result.stderr.endswith("figures: File exists\n")
    assert (folder / "results.sqlite").exists()


@pytest.mark.usefixtures("stored")
def test_merge_takes_the_folder_of_a_store(call):
    folder = "orthobench-results/small"
    said = call("merge", "all.sqlite", folder).stdout
    assert f"6 cells of {folder}/results.sqlite added to all.sqlite" in said


@pytest.mark.usefixtures("stored")
def test_export_writes_every_checkpoint(call, tmp_path):
    store = "orthobench-results/small/results.sqlite"
    rows = list(csv.DictReader(io.StringIO(call("export", store).stdout)))
    assert {row["solver"] for row in rows} == {"oja", "incremental-pca"}
    assert sum(row["number"] == "0" for row in rows) == 6
    assert {row["problem.k"] for row in rows} == {"2"}
    call("export", store, "-o", "out.csv")
    assert list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines())) == rows
    assert "does not end in .csv" in call("export", store, "-o", "out.parquet", code=2).stderr


def test_everything_listed_can_be_shown(call):
    listed = call("list").stdout
    assert "solvers: stochastic PCA" in listed
    assert re.match(r"\d+ solvers, \d+ problems, \d+ suites, \d+ plugins\n", listed)
    assert "problems: sparse PCA" in listed
    for name in ("msg", "digits", "quickstart"):
        assert name in listed
        assert name in call("show", name).stdout


def test_facts_are_also_json(call):
    facts = json.loads(call("list", "--json").stdout)
    families = {row["name"]: row["families"] for row in facts["solvers"]}
    assert families["givens"] == ["Stiefel manifold", "orthogonal group"]
    assert families["gpower"] == ["sparse PCA"]
    assert {"msg", "oja"} <= {row["name"] for row in facts["solvers"]}
    assert json.loads(call("show", "msg", "--json").stdout)["needs"] == "SampleOracle"
    assert json.loads(call("doctor", "--json").stdout)["problems"] == []


def test_words_filter_what_is_listed(call):
    found = json.loads(call("list", "solvers", "sparse-PCA", "--json").stdout)
    assert list(found) == ["solvers"]
    assert {"gpower", "tpower"} <= {row["name"] for row in found["solvers"]}
    assert "msg" not in {row["name"] for row in found["solvers"]}
    assert call("list", "gpower").stdout.startswith("1 solver, 0 problems")


def test_help_of_run_has_its_options_in_groups(call):
    text = call("run", "--help").stdout
    assert re.findall(r"(?m)^(\w*):$", text) == ["Suite", "Selection", "Execution", "Output"]
    assert all(option in text for option in ("--seeds", "--retry", "--timeout", "--store"))


def test_a_dry_run_refuses_what_a_run_refuses_and_counts_the_rest(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["run", "-p", "spiked-covariance n=10 k=2", "-s", "oja", "--seeds", "3"]
    assert call(*words, "--dry-run").stdout.startswith("3 cells run: it is new")
    for how in ("--dry-run", "--explain"):
        result = call("run", "-p", "digits k=65", "-s", "oja", how, code=2)
        assert "k must be" in result.stderr
    assert not list(tmp_path.iterdir())
