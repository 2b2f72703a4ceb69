"""Imports: results of other harnesses give the answer that their numbers say."""

import io
import json
import math
import tarfile
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from orthobench_bridges.curves import VALUE
from orthobench_bridges.read import import_results

from orthobench.atlas.collect import by_suite
from orthobench.cli.main import main
from orthobench.decide.comparisons import answer_of, compare
from orthobench.errors import DataError, UsageError
from orthobench.report.page.content import page_content
from orthobench.results.results import Results

HEAD = "problem,solver,seed,cost,value"

INFO = """suite = 'bbob', funcId = 3, DIM = 2, Precision = 1.000e-08, algId = 'A B', logger = 'bbob'
% a comment
data_f3/f3_DIM2.dat, 1:40|1.0e-01, 1:7|2.0e+00, 9:20|4.0e+00
"""

DAT = """% f evaluations | g evaluations | best noise-free fitness - Fopt | measured fitness
1 0 +8.0e+00 +9.0e+00
12 0 +1.0e-01 +1.1e+00
% f evaluations | g evaluations | best noise-free fitness - Fopt | measured fitness
1 0 +6.0e+00 +7.0e+00
7 0 +2.0e+00 +3.0e+00
% f evaluations | g evaluations | best noise-free fitness - Fopt | measured fitness
1 0 +5.0e+00 +6.0e+00
20 0 +4.0e+00 +5.0e+00
"""

IOH = {
    "function_id": 1, "maximization": True, "algorithm": {"name": "A"},
    "attributes": ["evaluations", "raw_y"],
    "scenarios": [{"dimension": 2, "path": "f.dat", "runs": [{"instance": 4, "evals": 9}]}],
}  # fmt: skip


def imported(folder, text, name="table.csv"):
    """Return the results in a store that a file with some text was read into."""
    (folder / name).write_text(text)
    import_results([folder / name], folder / "s.sqlite")
    return Results.read(folder / "s.sqlite")


def geometric(rates, costs, start="", seeds=8):
    """Return a table of runs whose values are powers of a rate, which differ a little by seed."""
    rows = [f"{HEAD},unit,start"]
    for solver, rate in rates.items():
        for seed in range(seeds):
            r = rate * (1 + seed / 1000)
            rows += [f"p,{solver},{seed},{10 * n},{r**n},evaluations,{start}" for n in costs]
    return "\n".join(rows)


def test_long_table_whole_costs_offers_the_first_stop_that_is_within(tmp_path):
    results = imported(tmp_path, geometric({"fast": 0.5, "slow": 0.9}, range(1, 61), 1.0))
    answer = answer_of(results)
    enough = next(n for n in range(60) if (0.5 * 1.007) ** n <= 0.01)
    assert (answer.use, answer.cost, answer.as_good_on) == ("fast", "evaluations", 1)
    (comparison,) = answer.comparisons
    call = comparison.of("fast").call
    assert 10 * enough <= call.cost < 1.3 * 10 * enough
    assert dict(call.stop.limits) == {"evaluations": call.cost}


@pytest.mark.parametrize(("start", "good"), [("", False), ("100", True)])
def test_gap_counts_from_the_start_or_else_the_worst_value(tmp_path, start, good):
    ends = {"a": 0.0, "b": 0.5}
    rows = [
        f"p,{solver},{seed},{cost},{value},{start}"
        for solver, end in ends.items()
        for seed in range(8)
        for cost, value in ((1.5, 10), (2.5, end + seed / 100))
    ]
    results = imported(tmp_path, "\n".join([f"{HEAD},start", *rows]))
    (comparison,) = compare(results.entries)
    assert comparison.of("b").as_good is good
    gap = float(start or 10)
    assert comparison.of("b").difference == pytest.approx(0.5 / gap, rel=0.01)


def test_seconds_of_others_are_costs_and_never_stops(tmp_path):
    text = geometric({"a": 0.5, "b": 0.7}, range(1, 40)).replace("evaluations", "s")
    results = imported(tmp_path, text)
    (comparison,) = answer_of(results).comparisons
    assert comparison.cost == "seconds"
    assert [comparison.of(s).call.stop.own for s in "ab"] == [True, True]
    assert comparison.of("a").cost == 390
    assert all(run.load is None for run in results.records)
    assert "cpu" not in results.session()["environment"]


def test_one_broken_cost_leaves_no_stop_to_its_solver(tmp_path):
    rows = [
        f"p,{s},{seed},{n},{1 / n + seed}" for s in "ab" for seed in range(6) for n in (1, 2, 9)
    ]
    results = imported(tmp_path, "\n".join([HEAD, *rows, "p,b,5,9.5,0"]))
    told = {(run.solver.label, run.imported.stops) for run in results.records}
    assert told == {("a", "cost"), ("b", "")}
    (comparison,) = compare(results.entries)
    assert comparison.of("b").call.stop.own


def test_page_prints_no_call_of_a_solver_that_has_a_name_of_ours(tmp_path):
    rows = [f"digits,{s},{seed},{n},{r**n}" for s, r in (("oja", 0.5), ("pgd", 0.9))
            for seed in range(8) for n in range(1, 60)]  # fmt: skip
    results = imported(tmp_path, "\n".join([HEAD, *rows]))
    assert answer_of(results).use == "oja"
    assert "ob.solve" not in str(page_content(results)["families"])


def test_value_not_finite_is_a_failed_run_with_its_curve(tmp_path):
    results = imported(tmp_path, f"{HEAD}\np,a,0,1,4\np,a,0,2,nan\np,a,1,1,3\n")
    failed, sound = results.records
    assert failed.failed
    assert [mark.metrics[VALUE] for mark in failed.trace] == [4.0, 4.0]
    assert sound.ok


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}\na,b,0,x,1\n", "row 2 has the cost 'x'"),
        (f"{HEAD}\na,b,0,1,1\na,b,0,2\n", "row 3 has no value"),
        (f"{HEAD}\na,b,0,1,1,7\n", "row 2 is longer than the head"),
        (f"{HEAD}\na,b,0,-1,1\n", "row 2 has the cost -1"),
        (f"{HEAD}\na,b,1e99,1,1\n", "row 2 has the seed"),
        (f"{HEAD}\n,b,1,1,1\n", "row 2 names no problem"),
        ("problem,solver,cost,value\na,b,1,1\n", "row 2 has no seed"),
        (f"{HEAD},start\na,b,0,1,1,2\na,b,0,2,1,3\n", "b on a, seed 0 has several starts"),
        (f"{HEAD},unit\na,b,0,1,1,s\na,c,0,1,1,flops\n", "costs in seconds and in flops"),
        (f"{HEAD},unit\na,b,0,1.5,1,samples\n", "not whole numbers"),
        (f"{HEAD}\n", "no runs"),
        ('"a\n', "is no CSV"),
    ],
)  # fmt: skip
def test_table_that_is_damaged_is_refused_with_its_row(tmp_path, text, said):
    with pytest.raises((DataError, UsageError), match=said):
        imported(tmp_path, text)
    assert not (tmp_path / "s.sqlite").exists()


def test_imported_store_is_shown_and_never_verified_or_mapped(tmp_path):
    text, store = geometric({"fast": 0.5, "slow": 0.9}, range(1, 61)), str(tmp_path / "s.sqlite")
    (tmp_path / "t.csv").write_text(text)
    run = CliRunner().invoke
    for _ in range(2):  # a table that is read again takes the place of the one before
        assert run(main, ["import", str(tmp_path / "t.csv"), "--store", store]).exit_code == 0
        shown = run(main, ["show", store, "--json"])
        facts = json.loads(shown.stdout)
        assert facts["answer"]["use"] == "fast"
        assert {(row["cost"], row["seconds"]) for row in facts["table"]} == {("evaluations", None)}
        (tmp_path / "t.csv").write_text(text.replace(",0.", ",1."))
    checked = run(main, ["verify", store])
    assert checked.exit_code == 2
    assert "imported" in checked.stdout
    page = run(main, ["report", store, "--out", str(tmp_path / "page")])
    assert page.exit_code == 0, page.output
    with pytest.raises(UsageError, match="another harness"):
        by_suite([tmp_path / "s.sqlite"])


def test_parquet_gives_the_same_runs_as_csv(tmp_path):
    text = f"{HEAD}\np,a,0,1,4\np,a,0,2,3\np,b,0,2,1\n"
    runs = imported(tmp_path, text).records
    pd.read_csv(tmp_path / "table.csv").to_parquet(tmp_path / "table.parquet")
    import_results([tmp_path / "table.parquet"], tmp_path / "other.sqlite")
    again = Results.read(tmp_path / "other.sqlite").records
    assert [list(r.trace) for r in again] == [list(r.trace) for r in runs]
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="is no Parquet file"):
        import_results([tmp_path / "broken.parquet"], tmp_path / "third.sqlite")


def test_start_of_a_run_that_is_told_once_counts_for_all_rows(tmp_path):
    results = imported(tmp_path, f"{HEAD},start\np,a,0,0.5,4,\np,a,0,1.5,2,9\n")
    (run,) = results.records
    assert run.start == 9.0
    assert math.isclose(run.trace[-1].metrics[VALUE], 2.0)


def test_steps_that_cannot_be_counted_are_left_out(tmp_path):
    rows = [f"{HEAD},unit,steps", "p,a,0,1.5,2,seconds,1e300", "p,a,0,2.5,1,seconds,1e300"]
    (run,) = imported(tmp_path, "\n".join(rows)).records
    assert [mark.work.steps for mark in run.trace] == [0, 0, 0]


def test_benchopt_iterations_are_stops_although_times_fall(tmp_path):
    rows = [
        {"objective_name": "o", "data_name": "d", "solver_name": solver, "idx_rep": seed,
         "sampling_strategy": "Iteration", "stop_val": n, "time": 0.9 - n / 100,
         "objective_value": rate**n + seed / 1e6}
        for solver, rate in (("fast", 0.1), ("slow", 0.9))
        for seed in range(6) for n in (0, 1, 3, 9, 60)
    ]  # fmt: skip
    pd.DataFrame(rows).to_parquet(tmp_path / "b.parquet")
    import_results([tmp_path / "b.parquet"], tmp_path / "s.sqlite")
    results = Results.read(tmp_path / "s.sqlite")
    assert {len(run.trace) for run in results.records} == {5}
    assert all(run.trace[-1].work.steps == 60 for run in results.records)
    (comparison,) = compare(results.entries, "steps")
    assert dict(comparison.of("fast").call.stop.limits) == {"steps": 3}
    assert comparison.of("fast").cost == 3


def test_coco_archive_has_a_problem_by_function_and_dimension(tmp_path):
    with tarfile.open(tmp_path / "coco.tgz", "w:gz") as archive:
        for name, text in (("x/f3.info", INFO), ("x/data_f3/f3_DIM2.dat", DAT)):
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    import_results([tmp_path / "coco.tgz"], tmp_path / "s.sqlite")
    records = Results.read(tmp_path / "s.sqlite").records
    assert {(r.problem.label, r.solver.label) for r in records} == {("bbob f3 d=2", "A B")}
    assert {r.seed: (r.trace[-1].metrics, r.start) for r in records} == {
        1: ({VALUE: 0.1, "evaluations": 40.0}, 8.0),
        1001: ({VALUE: 2.0, "evaluations": 7.0}, 6.0),
        9: ({VALUE: 4.0, "evaluations": 20.0}, 5.0),
    }
    with pytest.raises(DataError, match="two runs of A B on bbob"):
        import_results([tmp_path / "coco.tgz"] * 2, tmp_path / "s.sqlite")


def test_ioh_maximization_counts_as_the_negative(tmp_path):
    (tmp_path / "f.json").write_text(json.dumps(IOH))
    (tmp_path / "f.dat").write_text("evaluations raw_y\n1 2\n5 7\n7 3\n")
    import_results([tmp_path], tmp_path / "s.sqlite")
    (run,) = Results.read(tmp_path / "s.sqlite").records
    assert (run.seed, run.start, run.trace[-1].metrics[VALUE]) == (4, -2.0, -7.0)


def test_damaged_archives_are_refused_without_a_crash(tmp_path):
    files = {"f.json": json.dumps(IOH), "f.dat": "evaluations raw_y\n1 2\n9 5\n",
             "f3.info": INFO, "data_f3/f3_DIM2.dat": DAT}  # fmt: skip
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    sound, rng = packed.getvalue(), np.random.default_rng(0)
    for end in rng.integers(1, 2 * len(sound), 60):
        damaged = bytearray(sound[:end])
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        (tmp_path / "a.zip").write_bytes(damaged)
        with suppress(DataError, UsageError):
            import_results([tmp_path / "a.zip"], tmp_path / "s.sqlite")


@pytest.mark.parametrize("run", [
    {"instance": -1, "evals": 9}, {"instance": 10**300, "evals": 9},
    {"instance": 1, "evals": 10**400}, {"instance": 1, "evals": 1e400}, 7,
])  # fmt: skip
def test_impossible_runs_of_ioh_are_refused(tmp_path, run):
    scenario = {"dimension": 2, "path": "f.dat", "runs": [run]}
    (tmp_path / "f.json").write_text(json.dumps({**IOH, "scenarios": [scenario]}))
    (tmp_path / "f.dat").write_text("evaluations raw_y\n1 2\n")
    with pytest.raises(DataError):
        import_results([tmp_path], tmp_path / "s.sqlite")
