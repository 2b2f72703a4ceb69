"""The command ``orthobench atlas``."""

import pytest
from click.testing import CliRunner

import orthobench as ob
from orthobench.atlas import table
from orthobench.cli.main import main
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import from_table

SUITE = {
    "seeds": 2,
    "budget": {"samples": 100},
    "problem": [{"name": "spiked-covariance", "n": 8, "k": 2}],
    "solver": [{"name": "batch-pca"}, {"name": "oja"}],
}


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "results.sqlite"
    ob.run(from_table(SUITE, "small", catalogue()), path, executor="inline", quiet=True)
    return path


def call(*words):
    return CliRunner().invoke(main, ["atlas", *map(str, words)])


def test_a_store_becomes_a_site(store, tmp_path):
    result = call(store, "--out", tmp_path / "site")
    assert result.output.splitlines()[-2].endswith("index.html")
    assert (tmp_path / "site" / "family-stochastic-pca.html").is_file()
    first = table.read(tmp_path / "site" / "atlas.parquet")
    assert {row.d for row in first.rows} == {8}
    assert call(store, "--out", tmp_path / "site").exit_code == 0
