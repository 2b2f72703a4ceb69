"""What commands print."""

import io
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orthobench.cli.printing import figure_lines, plain, status_line


@dataclass(frozen=True)
class Point:
    name: str
    places: tuple[float, ...]


def test_plain_values_are_strict_json():
    facts = {"a": Point("p", (1.5, math.inf, math.nan)), 3: [np.float64(2.0), None, True]}
    found = plain(facts)
    assert found == {"a": {"name": "p", "places": [1.5, None, None]}, "3": [2.0, None, True]}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_figures_are_listed_with_their_formats():
    paths = [Path(name) for name in ("f/a.svg", "f/a.csv", "f/b.1.svg")]
    assert list(figure_lines(paths)) == ["f/a.svg (also .csv)", "f/b.1.svg"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_shown_on_terminals_only(monkeypatch):
    for stream, quiet, shown in [
        (Terminal(), False, True), (Terminal(), True, False), (io.StringIO(), False, False),
    ]:  # fmt: skip
        monkeypatch.setattr("sys.stderr", stream)
        with status_line(quiet) as say:
            say("reading the store")
        assert ("reading the store" in stream.getvalue()) is shown
