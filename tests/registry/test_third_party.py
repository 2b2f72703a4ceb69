"""A plugin of a third party, installed by pip, works beside orthobench."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import typed

from orthobench.registry.plugins import catalogue
from orthobench.registry.scaffold import names_of, render, templates_of

PLUGIN = Path(__file__).parents[1] / "third_party_plugin"
NAME = "orthobench-minibatch-oja"
PACKAGE = "orthobench_minibatch_oja"
AGAIN = (
    "tests/third_party_plugin is not what `orthobench plugin new` writes: remove it, then write it"
    f' again: orthobench plugin new {NAME} --author "The orthobench developers"'
    " -o tests/third_party_plugin"
)


def python(*words, **options):
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that pip installed the plugin to; needs no network."""
    if find_spec(PACKAGE) is not None:
        pytest.skip("the plugin is installed in this environment")
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("site-packages")
    words = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-compile")
    python("pip", *words, "--disable-pip-version-check", "--target", str(folder), str(PLUGIN))
    return folder


@pytest.fixture
def call(installed, monkeypatch, tmp_path):
    """The command line in an environment that has the plugin."""
    monkeypatch.syspath_prepend(installed)
    monkeypatch.chdir(tmp_path)
    catalogue.cache_clear()

    def called(*words, code=0):
        result = typed(*words, code=code)
        return json.loads(result.stdout) if "--json" in words else result.stdout

    yield called
    catalogue.cache_clear()
    for name in [name for name in sys.modules if name.startswith(PACKAGE)]:
        del sys.modules[name]


def test_it_is_what_the_generator_writes():
    family = templates_of("stochastic-pca", catalogue())
    written = render(names_of(NAME), family, "The orthobench developers")
    for path, text in written.items():
        assert (PLUGIN / path).read_text(encoding="utf-8") == text, AGAIN
    sources = {str(path.relative_to(PLUGIN)) for path in PLUGIN.rglob("*.py")}
    assert sources == {path for path in written if path.endswith(".py")}, AGAIN


def test_it_is_listed_with_its_version(call):
    (row,) = [row for row in call("list", "--json")["plugins"] if row["name"] == "minibatch-oja"]
    assert row["distribution"] == NAME
    assert row["version"] == "0.1.0"
    assert call("show", "minibatch-oja", "--json")["distribution"] == NAME


def test_a_store_has_the_version_of_a_third_party_plugin(call):
    words = ["-p", "spiked-covariance n=10 k=2", "-s", "minibatch-oja", "-s", "batch-pca"]
    how = ["--seeds", "1", "--samples", "200", "--no-figures", "--executor", "inline"]
    ran = call("run", *words, *how, "--store", "store.sqlite", "--json")
    assert {row["solver"] for row in ran["table"]} == {"minibatch-oja", "batch-pca"}
    assert [row["median"] is None for row in ran["table"]] == [False, False]
    assert call("show", "store.sqlite", "--json")["versions"][NAME] == "0.1.0"


@pytest.mark.slow  # `.ci/run` does it too, with the wheel
def test_it_passes_its_own_tests(installed):
    paths = f"import sys; sys.path.insert(0, {str(installed)!r}); import pytest; "
    run = "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider']))"
    words = [sys.executable, "-c", paths + run]
    done = subprocess.run(words, cwd=PLUGIN, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_its_types_hold(installed):
    pytest.importorskip("mypy")
    python("mypy", "--cache-dir", str(installed / "cache"), cwd=PLUGIN)
