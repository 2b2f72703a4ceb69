"""The runs behind a curve: who they are, and a command that runs one of them again, alone."""

import ast
import shlex

import pytest
from records import altered

import orthobench as ob
from orthobench.report.page.problems import entry_runs
from orthobench.results.results import Results
from orthobench.results.tuning import choose
from orthobench.tools import toml
from orthobench.tools.machine import Load

SUITE = """
seeds = 3
[budget]
samples = 60
[[problem]]
name = "spiked-covariance"
n = 6
[[solver]]
name = "oja"
label = "my 'own' oja"
step = 2.0
"""


def test_the_command_runs_the_cell_again(tmp_path):
    (tmp_path / "suite.toml").write_text(SUITE)
    results = ob.run(
        tmp_path / "suite.toml", tmp_path / "all.sqlite", executor="inline", quiet=True
    )
    (entry,) = results.entries
    found = entry_runs(entry, toml.loads(SUITE))
    assert [seed for seed, _, _ in found["runs"]] == [0, 1, 2]
    program, flag, text = shlex.split("2".join(found["command"]))
    assert (program, flag) == ("python", "-c")
    call = ast.parse(text).body[-1].value
    suite, path = ast.literal_eval(call.args[0]), ast.literal_eval(call.args[1].args[0])
    assert ast.unparse(call.func) == "ob.run"
    ob.run(suite, tmp_path / path, executor="inline", quiet=True)
    (again,) = Results.read(tmp_path / "alone.sqlite").records
    assert again.seed == 2
    assert again.trace[-1].metrics == entry.records[2].trace[-1].metrics


@pytest.mark.parametrize(
    "name", ["'; rm -rf ~; '", '"); import os; ("', "a\\", "é\u2028", "$(x)`y`"]
)
def test_no_name_gets_out_of_its_string(runs, name):
    records = [
        altered(r, recipe=name, solver=f"{name}x", parameters={name: name})
        for r in runs("a", 1.0, seeds=1)
    ]
    (entry,) = choose(records)
    words = shlex.split("0".join(entry_runs(entry, {})["command"]))
    assert words[:2] == ["python", "-c"]
    assert len(words) == 3
    tree = ast.parse(words[2])
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert [ast.unparse(call.func) for call in calls] == ["ob.run", "Path"]
    assert ast.literal_eval(calls[0].args[0])["problem"][0]["name"] == name


def test_endings_and_loads_are_those_of_the_records(runs):
    records = runs("a", 1.0, seeds=3, failed=1)
    records[1] = altered(records[1], load=(Load(2, 1.0), Load(2, 2.5)))
    records[2] = altered(records[2], load=(Load(2, 1.25), Load(2, None)))
    (entry,) = choose(records)
    found = entry_runs(entry, {})
    assert [load for *_, load in found["runs"]] == ["", "0.50, 1.25", ""]
    assert found["runs"][0][1] == "diverged: the solution at step 7 is not finite"
