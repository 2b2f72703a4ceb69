"""Answers are followed on three tiny problems: that all stages run, and that a run goes on."""

import json

import follow
import pytest
import smoke

pytestmark = pytest.mark.skipif(not smoke.ON, reason="python benchmarks/follow.py measures it")


def test_answers_are_followed(tmp_path, capsys):
    out = tmp_path / "follow.json"
    words = ["--smoke", "--out", str(out), "--resume"]
    assert follow.main(words) == 0
    rows = json.loads(out.read_text())["rows"]
    assert sorted(row["problem"] for row in rows) == sorted(follow.SMOKE)
    assert any(row["advise"]["followed"]["values"] for row in rows)
    assert any(row["literal"]["timed"] for row in rows)
    capsys.readouterr()
    assert follow.main(words) == 0
    assert json.loads(out.read_text())["rows"] == rows
    assert "advise: regret, geometric mean" in capsys.readouterr().out
