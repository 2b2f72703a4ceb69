"""What races are measured on, and that the benchmark runs and goes on."""

import json
import math
from dataclasses import replace

import pytest

import orthobench as ob
from orthobench.decide.rule import Comparison, Decision, Verdict
from orthobench.registry.suite_file import load


def test_the_suite_has_problems_of_every_family():
    known = ob.catalogue()
    suite = load(known.suite("race-regret"), known)
    assert len(suite.problems) >= 40
    families = {p.problem.family for p in suite.problems}
    assert families == {p.item.family for p in known.problems.values()}


def test_regret_is_the_cost_over_that_of_the_cheapest(script):
    decided = (
        Decision("a", Verdict.AS_GOOD, cost=1.0),
        Decision("b", Verdict.AS_GOOD, cost=3.0),
        Decision("c", Verdict.UNDECIDED, cost=2.0),
        Decision("d", Verdict.WORSE, cost=0.5),
    )
    comparison = Comparison("p", "p", "f", "m", "a", decided)
    found = [script.regret(name, comparison) for name in ("a", "b", "c", "d", None)]
    assert found == [1.0, 3.0, 2.0, script.MISS, script.MISS]
    undecided = Comparison("p", "p", "f", "m", None, decided[2:])
    assert script.regret("c", undecided) == 1.0
    assert script.regret("d", undecided) == script.MISS
    assert math.isnan(script.regret("d", replace(undecided, decisions=decided[3:])))


@pytest.mark.slow
def test_the_smoke_run_goes_on_where_it_ended(script, tmp_path):
    out = tmp_path / "regret.jsonl"
    assert script.main(["--smoke", "--out", str(out)]) == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["problem"] for row in rows} == {*script.SMOKE}
    assert all(1 <= row["regret"] <= script.MISS for row in rows)
    before = out.read_text()
    assert script.main(["--smoke", "--out", str(out)]) == 0
    assert out.read_text() == before
