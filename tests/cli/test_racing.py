"""`orthobench race` and `map`: arguments, output and exit code."""

import json
import math
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.cli.options import duration
from orthobench.racing import grid
from orthobench.racing import race as racing
from orthobench.racing.race import Dropped, Race
from orthobench.results.results import Results
from orthobench.stats.calls import Stop

ROW = {
    "configuration": "oja", "solver": "oja", "verdict": "as good", "cost": 2.0, "factor": 1.0,
    "first_cost": 9.0, "stop": {"steps": 129}, "reached": 10, "seeds": 12, "why": "",
}  # fmt: skip


def found(**changes):
    facts = {
        "winner": "oja", "parameters": {}, "factor": math.nan, "sentence": "Use oja.",
        "evidence": "1 of 2 configurations ran.",
        "decided": True, "table": [ROW], "dropped": (Dropped("msg", 1.5, "late"),),
        "missing": {"a": "install x", "b": "install x"},
        "results": Results("race", Path("race.sqlite"), []), "code": "import orthobench as ob",
        "stop": Stop.at(steps=129), "exact": None, "seconds": 12.34, "problem": "digits",
        "cost": "seconds",
    }  # fmt: skip
    return Race(**{**facts, **changes})


@pytest.fixture
def race(monkeypatch):
    """Call the command, with races that give this; and what it was asked for."""
    asked = {}

    def call(*words, races=(), told=()):
        def run(problems, within, tolerance, cost, **options):
            asked.update(problems=problems, within=within, tolerance=tolerance, cost=cost)
            asked.update(options)
            for line in told if options["tell"] else ():
                options["tell"](*line)
            return list(races) or [found()]

        monkeypatch.setattr(racing, "races", run)
        return CliRunner().invoke(main, ["race", *words])

    call.asked = asked
    return call


def test_options_are_passed_on(race):
    words = ["-p", "digits", "-s", "oja", "--within", "90s", "--tolerance", "0.05"]
    done = race(*words, "--cost", "samples", "--memory", "2GB", "--store", "r.sqlite", "--quiet")
    assert done.exit_code == 0
    assert race.asked.items() >= {
        "problems": ("digits",), "within": 90.0, "tolerance": 0.05, "cost": "samples",
        "solvers": ("oja",), "memory": 2 * 2**30, "store": Path("r.sqlite"),
    }.items()  # fmt: skip


def test_table_sentence_code_and_place_are_printed(race):
    lines = race("-p", "digits", "-q").stdout.splitlines()
    blank, row, *rest = lines
    assert blank == ""
    told = "oja, 129 steps 2.00 s 10/12 seeds as good (first call 9.00 s)"
    assert " ".join(row.split()) == told
    assert rest == [
        "not raced: a, b (install x)", "",
        "Use oja.", "1 of 2 configurations ran.", "", "import orthobench as ob", "",
        "12.3 s; the runs are in race.sqlite",
    ]  # fmt: skip


def test_exit_codes_of_races(race):
    none, broken = found(winner=None), found(interrupted=True)
    for races, code in (
        ([found()], 0), ([none], 1), ([found(), none], 1), ([none, found()], 1),
        ([none, broken], 130), ([broken], 130),
    ):  # fmt: skip
        assert race("-p", "digits", "-q", races=races).exit_code == code, (races, code)


def test_json_is_one_race_or_a_list(race):
    one = json.loads(race("-p", "digits", "--json").stdout)
    assert (one["winner"], one["store"], one["factor"]) == ("oja", "race.sqlite", None)
    assert one["table"][0]["stop"] == {"steps": 129}
    assert one["dropped"] == [{"name": "msg", "when": 1.5, "why": "late"}]
    two = json.loads(race("-p", "a", "-p", "b", "--json", races=[found(), found()]).stdout)
    assert [each["winner"] for each in two["races"]] == ["oja", "oja"]


def test_times_are_read_with_their_unit():
    times = {
        "90": 90, "30s": 30, "2m": 120, "1.5 min": 90, "1h": 3600, " .5H ": 1800, "2.": 2,
        ".5": 0.5,
    }  # fmt: skip
    assert {text: duration(text) for text in times} == times
    for text in ("", "0", "0.0h", "-1", "1d", "m", "1 2", "1.2.3", "inf"):
        with pytest.raises(click.BadParameter, match=f"{text!r} is no time"):
            duration(text)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (
            0,
            ["2 points measured; to draw the map:", "orthobench atlas 'a b'/*/*.sqlite --out site"],
        ),
        (1, ["1 race left: the same command goes on"]),
    ],
)
def test_a_map_is_measured_in_pieces(monkeypatch, left, said):
    asked = []
    monkeypatch.setattr(grid, "points", lambda parts, store: asked.append((parts, store)) or [1, 2])
    monkeypatch.setattr(grid, "measure", lambda *words, tell: asked.append((*words, tell)) or left)
    words = ["map", "gaps", "--within", "60", "--store", "a b", "--quiet"]
    done = CliRunner().invoke(main, words)
    assert done.stdout.splitlines() == said
    assert asked == [(("gaps",), Path("a b")), ([1, 2], 60.0, None)]
