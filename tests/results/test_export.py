"""Parquet files of results; CSV and JSON lines are tested by the command."""

import sys
from dataclasses import replace

import pandas as pd
import pytest
from records import altered

from orthobench import api
from orthobench.errors import UsageError
from orthobench.registry.suite_file import from_table
from orthobench.results.export import write
from orthobench.results.results import Results

TABLE = {
    "seeds": 3, "budget": {"steps": 6}, "problem": ["leading-subspace"], "solver": ["power"],
}  # fmt: skip


@pytest.fixture(scope="module")
def results(toys, tmp_path_factory):
    path = tmp_path_factory.mktemp("toys") / "results.sqlite"
    api.run(from_table(TABLE, "toys", toys.registry), path, executor="inline", quiet=True)
    return Results.read(path)


def test_parameter_of_several_types_is_text_in_parquet(results, tmp_path):
    records = [
        altered(r, parameters={**r.solver.parameters, "step": "zero"} if r.seed else {"step": 0.5})
        for r in results.records
    ]
    write(replace(results, records=records), tmp_path / "runs.parquet")
    assert set(pd.read_parquet(tmp_path / "runs.parquet")["solver.step"]) == {"zero", "0.5"}


def test_parquet_without_pandas_names_the_install(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"pip install 'orthobench\[export\]'"):
        write(results, tmp_path / "runs.parquet")
    assert not [*tmp_path.iterdir()]
