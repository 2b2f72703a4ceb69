"""A sweep of each family over two tiny sizes: that all of its stages run, and are written."""

import json

import pytest
import smoke
import sweep

pytestmark = pytest.mark.skipif(not smoke.ON, reason="python benchmarks/sweep.py measures it")

PARTS = {"build", "warm-up", "run", "judge", "store"}


def test_a_sweep_has_all_parts_of_all_families(tmp_path, capsys):
    out = tmp_path / "sweep.json"
    sweep.main(["--smoke", "--out", str(out)])
    rows = json.loads(out.read_text())
    assert {row["family"] for row in rows} == {*sweep.FAMILIES, "stores"}
    assert all({*row["seconds"]} == PARTS for row in rows if row["family"] != "stores")
    assert all(row["sizes"][1] == 2 * row["sizes"][0] for row in rows)
    assert "largest jump" in capsys.readouterr().out


def test_a_jump_is_relative_to_the_growth_of_the_run():
    steady = [(s, {"run": s / 100, "judge": s / 200}) for s in (100, 200, 400, 800)]
    row = sweep.row_of("family", "samples", steady)
    assert row.exponents["judge"] == pytest.approx(1.0)
    assert row.flags == []
    jumping = [*steady, (1600, {"run": 16.0, "judge": 40.0})]
    assert sweep.row_of("family", "samples", jumping).flags == [
        "judge grows faster than the run", "judge jumps by 5.0 at 1,600",
    ]  # fmt: skip
