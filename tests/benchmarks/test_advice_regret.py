"""The benchmark of advice runs, and a share of the gap is what it says."""

import math

import numpy as np
import pytest


def test_gap_closed_is_the_share_of_the_logarithm(script):
    said = script.line("k", np.log([4.0, 4.0]), np.log([1.0, 4.0]))
    assert "single best  4.00, advice  2.00" in said
    assert said.endswith("gap closed +0.50")
    assert script.line("k", np.zeros(1), np.zeros(1)).endswith("gap closed +0.00")


@pytest.mark.wide
def test_two_data_sets_are_raced_and_advised(script, tmp_path, capsys):
    assert script.main(["--smoke", "--out", str(tmp_path)]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert len(rows) == script.SMOKE
    regret = float(last.split("regret ")[1].split(",")[0])
    assert 1 <= regret <= script.MISS
    assert math.isfinite(regret)
