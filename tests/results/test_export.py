"""Exports for other programs: read again as their specifications say."""

import json
import math
import sys
from dataclasses import replace

import pandas as pd
import pytest
from records import altered

from orthobench import api
from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus
from orthobench.registry.suite_file import from_table
from orthobench.results import export
from orthobench.results.export import FORMATS, write
from orthobench.results.results import Results

TABLE = {
    "seeds": 3,
    "budget": {"steps": 6},
    "problem": [{"name": "leading-subspace", "n": [6, 8]}, {"name": "pictured"}],
    "solver": [
        {"name": "power", "step": {"tune": [0.5, 1.0]}},
        {"name": "power", "fault": "raise"},
    ],
}


@pytest.fixture(scope="module")
def results(toys, tmp_path_factory):
    """Runs of two solvers, of which one fails at its fifth step."""
    path = tmp_path_factory.mktemp("toys") / "results.sqlite"
    api.run(from_table(TABLE, "toys", toys.registry), path, executor="inline", quiet=True)
    return Results.read(path)


def read_ioh(folder):
    """Return the runs below a folder by solver, function, dimension and instance, or raise.

    A strict reader of https://iohprofiler.github.io/IOHanalyzer/data in its JSON form: each block
    of a data file begins with the header, counts evaluations from 1, strictly upwards, and ends
    with the last of the run; best values are those of the description.
    """
    runs, functions = {}, {}
    for file in folder.rglob("*.json"):
        about = json.loads(file.read_text())
        assert about["version"] == "0.3.5"
        assert about["maximization"] is False
        assert set(about["algorithm"]) == {"name", "info"}
        name = functions.setdefault(about["function_id"], about["function_name"])
        assert name == about["function_name"]
        for scenario in about["scenarios"]:
            text = (file.parent / scenario["path"]).read_text()
            header, *blocks = text.split(" ".join(about["attributes"]) + "\n")
            assert header == ""
            for run, block in zip(scenario["runs"], blocks, strict=True):
                rows = [[float(x) for x in line.split(" ")] for line in block.splitlines()]
                table = pd.DataFrame(rows, columns=about["attributes"])
                assert table.evaluations[0] == 1
                assert table.evaluations.is_monotonic_increasing
                assert table.evaluations.is_unique
                assert table.evaluations.iloc[-1] == run["evals"]
                assert table.raw_y.min() == run["best"]["y"]
                assert run["best"]["evals"] in table.evaluations.to_numpy()
                key = about["algorithm"]["name"], name, scenario["dimension"], run["instance"]
                assert key not in runs
                runs[key] = table
    return runs


@pytest.fixture(scope="module")
def runs(results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ioh")
    FORMATS["ioh"](results, folder)
    return read_ioh(folder)


def test_each_chosen_run_is_there_with_its_dimension(results, runs):
    assert set(runs) == {
        (entry.solver, name, n, seed)
        for entry in results.entries
        for name, n in [
            ("pictured", 6) if entry.problem == "pictured"
            else ("leading-subspace", entry.problem_info.parameters["n"])
        ]
        for seed in entry.seeds
    }  # fmt: skip


def test_values_are_the_smallest_so_far_at_their_costs(results, runs):
    entry = results.entries[0]
    record = entry.records[1]
    table = runs[entry.solver, "leading-subspace", 6, record.seed]
    for row in table.itertuples():
        reached = [m for m in record.trace if 1 + m.work.flops <= row.evaluations]
        assert row.raw_y == min(mark.metrics["gap"] for mark in reached)
        assert row.flops == row.evaluations - 1
    assert table.flops.iloc[-1] == record.trace[-1].work.flops


def test_a_failed_run_spends_its_cost_and_never_gets_below_the_start(results, runs):
    failed = [entry for entry in results.entries if "raise" in entry.solver]
    record = failed[0].records[0]
    assert record.failed
    table = runs[failed[0].solver, "leading-subspace", 6, record.seed]
    assert set(table.raw_y) == {record.start}
    assert table.evaluations.tolist() == [1, 1 + record.trace[-1].work.flops]


def test_a_run_that_works_before_its_first_checkpoint_starts_like_the_others(results, tmp_path):
    records = list(results.records)
    late = next(i for i, r in enumerate(records) if "raise" not in r.solver.label)
    records[late] = replace(records[late], trace=records[late].trace[2:])
    table = export._evaluations(records[late], "flops", results.entries)
    assert table[0].tolist() == [1.0, results.records[late].start, 0.0, 0.0, 0.0, 0.0]
    assert table[1][0] > 1


def test_names_of_strangers_stay_in_the_folder(results, tmp_path):
    evil = [altered(r, solver=f"../../{r.solver.label}/..") for r in results.records]
    FORMATS["ioh"](replace(results, records=evil), tmp_path / "a" / "b" / "c")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert {name for name, *_ in read_ioh(tmp_path)} == {r.solver.label for r in evil}


def test_samples_count_as_evaluations_where_every_run_draws_some(results):
    def drawing(record):
        marks = [replace(m, work=replace(m.work, samples=m.work.steps)) for m in record.trace]
        return replace(record, trace=tuple(marks))

    entries = [replace(e, records=tuple(map(drawing, e.records))) for e in results.entries]
    assert export._cost(results.entries) == "flops"
    assert export._cost(entries) == "samples"
    assert export._cost([*entries, results.entries[0]]) == "flops"


@pytest.fixture(scope="module")
def frame(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("benchopt") / "runs.parquet"
    FORMATS["benchopt"](results, path)
    return pd.read_parquet(path)


def test_benchopt_has_a_row_for_each_checkpoint_of_the_chosen_runs(results, frame):
    chosen = [(entry, record) for entry in results.entries for record in entry.records]
    assert len(frame) == sum(len(record.trace) for _, record in chosen)
    assert set(frame.idx_rep) == {0, 1, 2}
    for entry, record in chosen:
        own = frame[(frame.data_name == entry.problem) & (frame.solver_name == entry.solver)]
        own = own[own.seed == record.seed]
        assert own.stop_val.tolist() == [mark.work.steps for mark in record.trace]
        assert own.time.tolist() == [mark.seconds + mark.readout_seconds for mark in record.trace]
        assert own.objective_gap.tolist() == [mark.metrics["gap"] for mark in record.trace]
        assert (own.p_solver_step == record.solver.parameters["step"]).all()
        assert (own.p_dataset_n == record.problem.parameters["n"]).all()


def test_benchopt_shows_failures_as_infinite(frame):
    failed = frame.status == RunStatus.ERROR.value
    assert failed.any()
    assert (frame.objective_value[failed] == math.inf).all()
    assert (frame.objective_value[~failed] == frame.objective_gap[~failed]).all()


@pytest.mark.parametrize("name", ["solver.step", "p_solver_step"])
def test_a_parameter_of_several_types_is_text_in_parquet(results, name, tmp_path):
    records = [
        altered(r, parameters={**r.solver.parameters, "step": "zero"} if r.seed else {"step": 0.5})
        for r in results.records
    ]
    write_as = FORMATS["benchopt"] if name.startswith("p_") else write
    write_as(replace(results, records=records), tmp_path / "runs.parquet")
    assert set(pd.read_parquet(tmp_path / "runs.parquet")[name]) == {"zero", "0.5"}


def test_benchopt_reads_parquet_only(results, tmp_path):
    for suffix in (".csv", ".zip"):
        with pytest.raises(UsageError, match=r"name a file \.parquet"):
            FORMATS["benchopt"](results, tmp_path / f"runs{suffix}")
    assert not [*tmp_path.iterdir()]


def test_parquet_without_its_packages_says_what_to_install(results, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for write_as in (write, FORMATS["benchopt"]):
        with pytest.raises(UsageError, match=r"pip install 'orthobench\[export\]'"):
            write_as(results, tmp_path / "runs.parquet")
    assert not [*tmp_path.iterdir()]


def test_runs_and_solvers_that_are_not_there_are_left_out(results, tmp_path):
    records = [
        r for r in results.records if (r.solver.label, r.problem.label[-1]) != ("power", "d")
    ]
    records[0] = altered(records[0], trace=(), status=RunStatus.MISSING)
    less = replace(results, records=records)
    FORMATS["benchopt"](less, tmp_path / "runs.parquet")
    frame = pd.read_parquet(tmp_path / "runs.parquet")
    shown = [r for e in less.entries for r in e.records]
    assert len(frame) == sum(len(r.trace) for r in shown)
    FORMATS["ioh"](less, tmp_path / "ioh")
    found = read_ioh(tmp_path / "ioh")
    assert {name for solver, name, *_ in found if solver == "power"} == {"leading-subspace"}
    assert len({name for _, name, *_ in found}) == 2
