"""The comparison: what the rows say, what the table shows, at any width."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from records import altered
from rich.console import Console

from orthobench.decide.answer import answer
from orthobench.decide.comparisons import compare
from orthobench.harness.stopping import RunStatus, Termination
from orthobench.report import caveats
from orthobench.report.rows import rows_by_problem
from orthobench.report.terminal import table
from orthobench.report.terminal.table import answer_legend, show
from orthobench.results.tuning import choose


def rows(entries):
    return table.rows(entries, compare(entries))


def all_rows(entries):
    return [row for _, own in rows_by_problem(entries, compare(entries)) for row in own]


def text(entries, width=80, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(entries, compare(entries), Console(file=file, width=width, color_system=None))
    file.flush()
    return file.buffer.getvalue().decode(encoding)


class TestRows:
    def test_say_what_was_measured(self, runs):
        records = runs("msg", 0.3)
        (row,) = rows(choose(records))
        last = [r.trace[-1].metrics["gap"] for r in records]
        assert row["median"] == pytest.approx(np.median(last))
        assert [row["low"], row["high"]] == pytest.approx(list(np.quantile(last, [0.25, 0.75])))
        assert row["interval"][0] <= row["median"] <= row["interval"][1]
        assert row["seconds"] == pytest.approx(0.4 + 2e-5)
        assert (row["samples"], row["steps"], row["flops"]) == (4000, 4000, 2_400_000)
        assert row["metrics"]["rank"] == 9
        assert row["runs"] == {"planned": 5, "ok": 5, "failed": 0, "missing": 0}

    def test_are_strict_json_with_failures_named(self, runs):
        found = json.loads(json.dumps(rows(choose(runs("dead", 0.3, failed=5))), allow_nan=False))
        assert found[0]["median"] is None
        assert found[0]["seconds"] is None
        assert found[0]["runs"] == {"planned": 5, "ok": 0, "failed": 5, "missing": 0}
        assert found[0]["failures"][0] == {
            "seed": 0, "status": "diverged", "reason": "the solution at step 7 is not finite",
        }  # fmt: skip


class TestShow:
    def test_says_at_80_columns_what_matters(self, runs):
        records = runs("grassmannian-sgd", 0.003, 8, tuned={"step": 2.0}) + runs("oja", 9, 8)
        shown = text(choose(records))
        line = r"★  grassmannian-sgd step=2  as good +[0-9.e-]+ +8/8 +\d+ µs +1$"
        assert re.search(f"(?m){line}", shown)
        assert re.search(r"✗  oja +worse +0\.1\d+ +0/8 +400 ms ", shown)
        assert [line.rstrip("─ ") for line in shown.splitlines()] == [
            "", "digits k=4  PCA, final gap, 8 seeds",
            "   solver                             median  to 1 %    time  factor", "",
            "★  grassmannian-sgd step=2  as good  4.91e-5     8/8  120 µs       1",
            "✗  oja                      worse      0.140     0/8  400 ms",
        ]  # fmt: skip

    def test_marks_are_the_same_in_ascii_and_explained_once(self, runs):
        entries = choose(runs("a", 0.001, 8) + runs("b", 0.001, 8) + runs("bad", 0.3, 8, failed=4))
        shown = text(entries, encoding="ascii")
        assert re.search(r"(?m)^\*\| [ab] ", shown)
        assert re.search(r"(?m)^o\| [ab] ", shown)
        assert re.search(r"(?m)^!\| bad +\| 4 failed", shown)
        explained = next(answer_legend(answer(compare(entries)), ascii_only=True))
        marks = explained.rstrip(".").partition("tolerance. ")[2]
        assert [mark.split()[0] for mark in marks.split(", ") if len(mark.split()[0]) == 1] == [
            "*", "o", "!",
        ]  # fmt: skip

    def test_keeps_to_the_width(self, runs):
        records = runs("capped-msg K=9", 0.3, tuned={"step": 2.0}) + runs("oja", 0.5, failed=2)
        for width in (20, 40, 60, 80, 100, 120, 200):
            for encoding in ("utf-8", "ascii"):
                shown = text(choose(records), width, encoding)
                assert max(map(len, shown.splitlines())) <= width, (width, encoding)
                assert "oja" in shown

    def test_names_failures_with_their_reasons(self, runs):
        entries = choose(runs("oja", 0.5, failed=2) + runs("msg", 0.3, failed=5) + runs("ok", 1))
        shown = text(entries, 120)
        assert "oja: diverged: the solution at step 7 is not finite (seeds 0, 1)" in shown
        assert "msg: diverged: the solution at step 7 is not finite (all seeds)" in shown
        assert re.search(r"!  msg +5 failed +inf ", shown)

    def test_refusals_share_a_line_for_each_reason(self, runs):
        refusal = {"status": RunStatus.REFUSED, "trace": ()}
        reasons = {"square": "solves m = N only", "flat": "is flat", "cubic": "solves m = N only"}
        records = runs("oja", 0.5) + [
            altered(r, **refusal, reason=reason)
            for name, reason in reasons.items()
            for r in runs(name, 0.3)
        ]
        shown = text(choose(records), 120)
        assert "square and cubic take no part: solves m = N only" in shown
        assert "flat takes no part: is flat" in shown

    def test_names_failures_of_trials_that_were_not_chosen(self, runs):
        good = runs("a", 0.3, tuned={"step": 1.0})
        bad = runs("a", 0.2, tuned={"step": 8.0}, failed=2)
        worse = runs("a", 0.2, tuned={"step": 16.0}, failed=1)
        shown = text(choose(good + bad + worse), 160)
        reason = "the solution at step 7 is not finite"
        assert f"a, not chosen: diverged: {reason} (3 runs)" in shown
        assert shown.count("not chosen") == 1
        odd = [
            altered(r, status=RunStatus.REFUSED, reason="too long", trace=())
            for r in runs("a", 0.2, tuned={"step": 32.0})
        ]
        refused = text(choose([*good, *odd]), 160)
        assert "a, not chosen: refused: too long (5 runs)" in refused
        assert "takes no part" not in refused
        (row,) = rows(choose(good + bad + worse))
        assert [trial["failed"] for trial in row["trials"]] == [0, 2, 1]

    def test_warns_where_the_grid_ends_at_the_choice(self, runs):
        grid = [r for c in (1.0, 2.0, 3.0) for r in runs("msg", c, tuned={"step": c})]
        shown = text(choose(grid), 120)
        assert (
            "parameters were chosen by val at the end, from up to 3 trials of each solver" in shown
        )
        assert "msg: step=1 is the smallest tried; a better one may lie beyond" in shown
        inner = [r for c, v in ((1.0, 2), (2.0, 1), (3.0, 2))
                 for r in runs("msg", v, tuned={"step": c})]  # fmt: skip
        assert "tried" not in text(choose(inner), 120)
        flat = [r for c in (1.0, 2.0, 3.0) for r in runs("m" * int(c), 1.0, tuned={"step": c})]
        assert "tried" not in text(choose([altered(r, solver="msg") for r in flat]), 120)
        flags = [r for c in (False, True) for r in runs("msg", c, tuned={"greedy": c})]
        assert "tried" not in text(choose(flags), 120)

    def test_shows_markup_and_escapes_as_they_are(self, runs):
        records = runs("[bold]x[/bold]\x1b", 0.1, problem="[red]p[/] \x1b[31m")
        bad = [
            altered(
                r, solver="[/]", key="k" + r.key, status=RunStatus.ERROR, reason="KeyError('[x]')"
            )
            for r in records
        ]
        shown = text(choose(records + bad))
        assert "[red]p[/] [31m" in shown
        assert "★  [bold]x[/bold]" in shown
        assert "[/]: error: KeyError('[x]') (all seeds)" in shown
        assert "\x1b" not in shown

    def test_no_results_give_no_rows(self):
        assert text([]) == ""
        assert rows([]) == []


def test_each_reason_is_told_once_and_who_did_not_run_in_one_line(runs):
    def without(status, solver, reason, problem):
        ended = {"status": status, "reason": reason, "trace": ()}
        return [altered(r, **ended) for r in runs(solver, 0.1, problem=problem)]

    records = [r for s in "ab" for p in "pq" for r in runs(s, 0.1, problem=p)]
    records[5:10] = runs("b", 0.1, failed=2, problem="p")
    for solver, reason in (("x", "is flat"), ("y", "is deep"), ("z", "is flat")):
        records += [r for p in "pq" for r in without(RunStatus.REFUSED, solver, reason, p)]
    records += [*runs("c", 0.1, problem="p"), *without(RunStatus.REFUSED, "c", "is flat", "q")]
    records += [r for p in "pq" for r in without(RunStatus.MISSING, "late", "not run yet", p)]
    entries = choose(records)
    assert list(caveats.troubles(all_rows(entries))) == [
        "4 solvers did not run: x and z (is flat); y (is deep); late (not run yet)",
        "p: b: diverged: the solution at step 7 is not finite (seeds 0, 1)",
        "q: c takes no part: is flat",
    ]


def test_troubles_name_runs_that_a_limit_cut(runs):
    cut = [replace(r, stop=Termination.cut(60.0)) for r in runs("b", 0.1)]
    entries = choose([*runs("a", 0.3), *cut])
    (line,) = caveats.troubles(all_rows(entries))
    assert f"b {len(cut)} runs, after 60 s" in line
