"""The history as one page that needs neither a network nor JavaScript, beside asv's own.

``asv publish`` writes it as ``history.html``. asv's pages load their scripts from the network;
where they cannot, they lead here. Found through ``plugins`` of ``asv.conf.json``.
"""

from __future__ import annotations

import math
from html import escape
from pathlib import Path

from asv.publishing import OutputPublisher
from asv.util import human_value

WIDTH, HEIGHT, MARGIN = 240, 36, 4
NOTICED = 0.05
HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>orthobench over its history</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: 0.2em 0.6em; border-bottom: 1px solid #ddd }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.worse { color: #b00; font-weight: bold } .better { color: #070 }
path { fill: none; stroke: #36c; stroke-width: 1.5 } circle { fill: #36c }
</style>
"""


class History(OutputPublisher):
    """A row for each benchmark: its last value, its last step, and its curve."""

    name = "history"
    button_label = "History"
    description = "All benchmarks on one page"

    @classmethod
    def publish(cls, conf, repo, benchmarks, graphs, revisions):
        del repo
        folder = Path(conf.html_dir)
        rows = [
            _row(benchmark, graph)
            for _, benchmark in sorted(benchmarks.items())
            for graph in graphs.get_graph_group(benchmark["name"])
            if "summary" not in graph.params
        ]
        commits = sorted((number, commit) for commit, number in revisions.items())
        page = HEAD + _title(commits, conf.hash_length) + _table(rows)
        (folder / "history.html").write_text(page, encoding="utf-8")
        index = folder / "index.html"
        text = index.read_text(encoding="utf-8")
        index.write_text(text.replace('"error.html"', '"history.html"'), encoding="utf-8")


def _title(commits, length):
    first, last = commits[0][1][:length], commits[-1][1][:length]
    return (
        f"<h1>orthobench over its history</h1>\n<p>{len(commits)} commits from {first} to {last}. "
        "A step is a change that stands out from the noise; of all values less is better.</p>\n"
    )


def _table(rows):
    names = ("benchmark", "machine", "last value", "last step", "history")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f"<table>\n<tr>{head}</tr>\n" + "\n".join(rows) + "\n</table>\n"


def _row(benchmark, graph):
    points = [(x, y) for x, y, *_ in graph.get_data() if y is not None and math.isfinite(y)]
    last = _shown(points[-1][1], benchmark["unit"]) if points else "n/a"
    cells = (
        f"<td>{escape(benchmark['name'])}</td><td>{escape(str(graph.params['machine']))}</td>",
        f'<td class="number">{escape(last)}</td>{_step(graph.get_steps())}',
        f"<td>{_curve(points)}</td>",
    )
    return f"<tr>{''.join(cells)}</tr>"


def _shown(value, unit):
    return human_value(value, unit) if unit in {"seconds", "bytes"} else f"{value:.6g}"


def _step(steps):
    if not steps or len(steps) < 2 or not steps[-2][2]:
        return "<td></td>"
    change = steps[-1][2] / steps[-2][2] - 1
    kind = "worse" if change > NOTICED else "better" if change < -NOTICED else ""
    return f'<td class="number {kind}">{change:+.0%}</td>'


def _curve(points):
    """Draw values over commits, from zero up, as SVG."""
    top = max((y for _, y in points), default=0) or 1
    across = (WIDTH - 2 * MARGIN) / max(1, len(points) - 1)
    places = [
        (MARGIN + i * across, HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * y / top)
        for i, (_, y) in enumerate(points)
    ]
    line = " L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in places)
    path = f'<path d="M{line}"/>' if places else ""
    return f'<svg width="{WIDTH}" height="{HEIGHT}" role="img">{path}{dots}</svg>'
