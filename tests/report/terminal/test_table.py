"""The comparison: what the rows say, what the table shows, at any width."""

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from records import altered
from rich.console import Console
from rich.measure import Measurement

from orthobench.harness.stopping import USED_UP, RunStatus
from orthobench.harness.suite import Level
from orthobench.report.ranking import rank
from orthobench.report.terminal import table
from orthobench.report.terminal.columns import columns
from orthobench.report.terminal.table import rows, show
from orthobench.results.tuning import choose


def text(entries, width=80, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(entries, Console(file=file, width=width, color_system=None))
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

    def test_are_sorted_and_mark_the_best(self, runs):
        found = rows(choose(runs("a", 0.3) + runs("b", 0.1) + runs("c", 0.2)))
        assert [row["solver"] for row in found] == ["b", "c", "a"]
        assert [row["best"] for row in found] == [True, False, False]
        assert not any(row["close"] for row in found)

    def test_the_best_is_one_of_which_no_run_failed(self, runs):
        found = rows(choose(runs("lucky", 0.01, failed=1) + runs("safe", 0.3)))
        assert [(row["solver"], row["best"]) for row in found] == [("lucky", False), ("safe", True)]

    def test_solvers_that_differ_by_chance_only_are_close(self, runs, record):
        near = [record("nearly", s, 0.3 * f) for s, f in enumerate((0.9, 1.1, 1.2, 0.85, 1.15))]
        near += [record("nearly", s, 0.3 * f) for s, f in ((5, 0.95), (6, 1.05))]
        found = rows(choose(runs("msgmsg", 0.3, seeds=7) + near))
        assert sorted((row["best"], row["close"]) for row in found) == [
            (False, True),
            (True, False),
        ]

    def test_rounding_is_no_difference(self, runs):
        equal = runs("a", 0.3) + runs("b", 0.3 * (1 + 1e-15))
        assert [row["best"] for row in rows(choose(equal))] == [False, False]
        found = rows(choose(equal + runs("c", 0.5)))
        assert [(row["mark"], row["solver"]) for row in found[:2]] == [
            ("best", "a"),
            ("equal", "b"),
        ]

    def test_of_equal_solvers_the_fastest_is_first(self, runs):
        slow = [replace(r, trace=tuple(replace(m, seconds=9 + m.seconds) for m in r.trace))
                for r in runs("a", 0.3)]  # fmt: skip
        found = rows(choose(slow + runs("b", 0.3 * (1 + 1e-15)) + runs("c", 0.2, failed=1)))
        assert [row["solver"] for row in found if row["runs"]["failed"] == 0] == ["b", "a"]
        assert [row["solver"] for row in found if row["best"]] == ["b"]

    def test_one_seed_says_nothing_about_differences(self, runs):
        found = rows(choose(runs("a", 0.3, seeds=1) + runs("b", 0.4, seeds=1)))
        assert not any(row["close"] for row in found)

    def test_are_strict_json_with_failures_named(self, runs):
        found = json.loads(json.dumps(rows(choose(runs("dead", 0.3, failed=5))), allow_nan=False))
        assert found[0]["median"] is None
        assert found[0]["seconds"] is None
        assert found[0]["runs"] == {"planned": 5, "ok": 0, "failed": 5, "missing": 0}
        assert found[0]["failures"][0] == {
            "seed": 0, "status": "diverged", "reason": "the solution at step 7 is not finite",
        }  # fmt: skip

    def test_tell_all_trials(self, runs):
        records = [r for c in (1.0, 2.0) for r in runs("msg", c, tuned={"step": c})]
        (row,) = rows(choose(records))
        assert row["chosen"] == {"step": 1.0}
        assert row["tuned_by"] == "val"
        assert [trial["tuned"] for trial in row["trials"]] == [{"step": 1.0}, {"step": 2.0}]
        assert row["trials"][0]["score"] < row["trials"][1]["score"]

    def test_keep_problems_apart(self, runs):
        found = rows(choose(runs("a", 0.3) + runs("a", 0.1, problem="faces")))
        assert [(row["problem"], row["best"]) for row in found] == [
            ("digits k=4", True), ("faces", True),
        ]  # fmt: skip


class TestShow:
    @pytest.mark.parametrize("width", [20, 40, 60, 80, 100, 120, 200])
    @pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
    def test_keeps_to_the_width(self, runs, width, encoding):
        records = runs("capped-msg K=9", 0.3, tuned={"step": 2.0}) + runs("oja", 0.5, failed=2)
        shown = text(choose(records), width, encoding)
        assert max(map(len, shown.splitlines())) <= width
        assert "oja" in shown

    def test_says_at_80_columns_what_matters(self, runs):
        records = runs("grassmannian-sgd", 0.3, tuned={"step": 2.0}) + runs("oja", 0.5)
        shown = text(choose(records))
        assert re.search(r"★  grassmannian-sgd step=2  [▁-█]{8,} +\d", shown)
        assert "curve: median gap, ▁ " in shown
        assert "over 1 to 4,000 samples" in shown
        assert "[25 to 75 %]" in shown
        assert "400 ms" in shown
        assert "5/5" in shown
        assert "rank" in shown

    def test_marks_the_best_without_colour_in_ascii_too(self, runs):
        shown = text(choose(runs("a", 0.1) + runs("b", 0.5)), encoding="ascii")
        assert "*| a" in shown
        assert "* smallest median, of equal ones the fastest; no run failed" in shown

    def test_marks_who_may_be_as_good_as_the_best(self, runs):
        shown = text(choose(runs("aa", 0.3, seeds=9) + runs("bbb", 0.3, seeds=9)), 160)
        assert re.search("≈  (aa|bbb) ", shown)
        assert "≈ may be the best as well" in shown

    def test_marks_whose_seeds_are_too_few(self, runs):
        shown = text(choose(runs("a", 0.3) + runs("b", 0.5)), 160)
        assert "?  b" in shown
        assert "? too few seeds, or too many ties, to decide" in shown

    def test_prints_what_is_below_rounding_alike(self, runs):
        shown = text(choose(runs("a", 3e-30) + runs("b", 2e-30) + runs("c", 1.0)), 160)
        assert len(re.findall(r"[ab] .* <1e-11 +\[<1e-11, <1e-11\]", shown)) == 2
        assert "e-30" not in shown

    def test_names_failures_with_their_reasons(self, runs):
        entries = choose(runs("oja", 0.5, failed=2) + runs("msg", 0.3, failed=5) + runs("ok", 1))
        shown = text(entries, 120)
        assert "oja: diverged: the solution at step 7 is not finite (seeds 0, 1)" in shown
        assert "msg: diverged: the solution at step 7 is not finite (all seeds)" in shown
        assert "3/5" in shown
        assert re.search(r"✗  msg +[▁-█]+ +inf +\[inf, inf\]", shown)

    def test_who_takes_no_part_is_named_below_and_not_ranked(self, runs):
        refusal = {"status": RunStatus.REFUSED, "reason": "solves m = N only"}
        records = runs("oja", 0.5) + [
            altered(r, **refusal, trace=()) for r in runs("square", 0.3, seeds=5)
        ]
        shown = text(choose(records), 120)
        assert "square takes no part: solves m = N only" in shown
        assert not re.search(r"✗", shown)
        assert [row["solver"] for row in rows(choose(records))] == ["oja", "square"]

    def test_who_takes_no_part_for_one_reason_is_named_in_one_line(self, runs):
        refusal = {"status": RunStatus.REFUSED, "trace": ()}
        reasons = {"square": "solves m = N only", "flat": "is flat", "cubic": "solves m = N only"}
        records = runs("oja", 0.5) + [
            altered(r, **refusal, reason=reason)
            for name, reason in reasons.items()
            for r in runs(name, 0.3)
        ]
        shown = text(choose(records), 120)
        assert "cubic and square take no part: solves m = N only" in shown
        assert "flat takes no part: is flat" in shown

    def test_traces_made_of_runs_from_the_start_are_named(self, runs):
        again = [altered(r, reruns=True) for r in runs("als", 0.3)]
        shown = text(choose(runs("oja", 0.5) + again), 160)
        assert re.search(r"re-run with growing budgets.*: als\n", shown)
        assert "re-run" not in text(choose(runs("oja", 0.5)), 160)

    def test_names_what_converged_where_a_rotation_would_help(self, runs):
        def steep(record, gradient):
            last = record.trace[-1]
            metrics = {**last.metrics, "relative_gradient": gradient}
            return replace(record, trace=(*record.trace[:-1], replace(last, metrics=metrics)))

        level = [steep(r, 1e-9) for r in runs("polar", 0.2)]
        tilted = [steep(r, 0.25) for r in runs("deflation", 0.3)]
        used_up = [steep(r, 0.5) for r in runs("stream", 0.3, reason=USED_UP)]
        shown = text(choose(level + tilted + used_up), 160)
        assert "not stationary (relative gradient): deflation 0.250\n" in shown
        assert "stationary" not in text(choose(level + used_up), 160)

    def test_failures_of_who_takes_no_part_are_named(self, runs):
        level = (Level("rank", 1.0),)
        records = runs("dense", 0.3, tuned={"gamma": 0.1}, failed=2)
        records += runs("dense", 0.3, tuned={"gamma": 0.2})
        shown = text(choose([altered(r, levels=level) for r in records]), 160)
        assert "dense takes no part: no trial keeps rank <= 1: the nearest ends at 9" in shown
        assert "dense, not chosen gamma=0.1: diverged: the solution at step 7" in shown
        assert "(2 runs)" in shown

    def test_where_nobody_takes_part_the_reasons_are_left(self, runs):
        refusal = {"status": RunStatus.REFUSED, "reason": "solves m = N only", "trace": ()}
        shown = text(choose([altered(r, **refusal) for r in runs("square", 0.3)]), 120)
        assert shown.splitlines()[1].startswith("digits k=4")
        assert "square takes no part: solves m = N only" in shown

    def test_shows_flops_where_not_all_methods_draw_samples(self, runs):
        records = runs("oja", 0.5) + runs("givens", 0.3, samples=False)
        shown = text(choose(records), 56)
        assert re.search(r"median .*time +runs +flops\n", shown)
        assert not re.search(r"(?m)^   solver .*samples", shown)

    def test_names_failures_of_trials_that_were_not_chosen(self, runs):
        good = runs("a", 0.3, tuned={"step": 1.0})
        bad = runs("a", 0.2, tuned={"step": 8.0}, failed=2)
        worse = runs("a", 0.2, tuned={"step": 16.0}, failed=1)
        shown = text(choose(good + bad + worse), 160)
        reason = "the solution at step 7 is not finite"
        assert f"a, not chosen step=8 step=16: diverged: {reason} (3 runs)" in shown
        (row,) = rows(choose(good + bad + worse))
        assert [trial["failed"] for trial in row["trials"]] == [0, 2, 1]

    def test_a_failed_run_is_never_hidden_behind_a_small_difference(self, runs):
        shown = text(choose(runs("aa", 0.3) + runs("ab", 0.3, failed=1)), encoding="ascii")
        (line,) = [line for line in shown.splitlines() if "4/5" in line]
        assert re.match(r"x\W+ab", line)

    def test_says_how_many_trials_each_result_took(self, runs):
        tuned = [r for step in (0.1, 0.2, 0.4) for r in runs("oja", step, tuned={"step": step})]
        lines = text(choose(tuned + runs("msg", 0.3)), width=140).splitlines()
        found = {line.split()[1]: line.split() for line in lines if "5/5" in line}
        assert "trials" not in text(choose(runs("msg", 0.3)), width=140)
        assert found["oja"][found["oja"].index("5/5") + 1] == "3"
        other = next(words for name, words in found.items() if name != "oja")
        assert other[other.index("5/5") + 1] == "1"

    def test_names_missing_runs(self, runs):
        entries = choose(runs("msg", 0.3), seeds=range(6))
        assert "not run yet, and not counted: msg 1 of 6 runs" in text(entries)
        assert "missing" not in text(entries)
        assert "5/6" in text(entries)

    def test_names_the_columns_left_out(self, runs):
        entries = choose(runs("a-solver-of-a-long-name K=9 start=zero", 0.1))
        shown = text(entries)
        assert re.search(r"\n  no room for .*, curve, .*: --json has all\n", shown)
        assert re.search(r"\n  no room for .* more: --json has all\n", text(entries, 50))
        assert "no room for" not in text(entries, 200)
        assert all(len(line) <= 50 for line in text(entries, 50).splitlines())

    def test_warns_where_the_grid_ends_at_the_choice(self, runs):
        grid = [r for c in (1.0, 2.0, 3.0) for r in runs("msg", c, tuned={"step": c})]
        shown = text(choose(grid), 120)
        assert "parameters were chosen by val at the end, from 3 trials of each solver" in shown
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

    def test_samples_that_differ_are_kept_before_the_spread(self, runs):
        records = runs("grassmannian-sgd step=2", 0.3)
        fewer = [replace(r, trace=r.trace[:-1]) for r in runs("oja", 0.5)]
        assert re.search(r"median +samples +time +runs\n", text(choose(records + fewer), 60))

    @pytest.mark.parametrize("width", range(50, 90, 3))
    def test_columns_are_left_out_before_a_name_is_folded(self, runs, width):
        records = runs("givens-streaming-sparse-pca", 0.3, tuned={"gamma": 0.06})
        shown = text(choose(records + runs("oja", 0.5)), width)
        assert "givens-streaming-sparse-pca" in shown
        assert "gamma=0.06" in shown
        assert ("givens-streaming-sparse-pca gamma=0.06" in shown) == (width > 55)
        assert "…" not in shown

    def test_curves_take_the_room_that_is_left(self, runs):
        entries = choose(runs("a", 0.3) + runs("b", 0.5))
        curves = {w: re.findall("[▁-█]{3,}", text(entries, w)) for w in (55, 75, 90, 200)}
        widths = {w: {len(curve) for curve in found} for w, found in curves.items()}
        assert widths[55] == set()
        assert widths[75] == {13}
        assert widths[200] == {24}
        assert "curve" not in text(entries, 40).split("no room for")[0]

    def test_curves_are_ascii_where_the_console_is(self, runs):
        shown = text(choose(runs("a", 0.3) + runs("b", 0.5)), 120, "ascii")
        assert re.search(r"\| a +\| [-.:=+*#@]{8,}", shown)
        assert "curve: median gap, . " in shown

    def test_has_no_curves_of_too_many_runs_and_says_so(self, runs, monkeypatch):
        entries = choose(runs("a", 0.3) + runs("b", 0.5))
        monkeypatch.setattr(table, "CURVED", 9)
        assert not re.search("[▁-█]{3,}", text(entries, 120))
        assert "no curves of more than 9 runs" in text(entries, 120)

    def test_is_as_wide_as_it_is_said_to_be(self, runs):
        ranked = rank(choose(runs("ähnlich 漢字", 0.3, failed=1) + runs("b", 0.5)))
        shown, console = columns(ranked, False), Console(width=500, color_system=None)
        drawn = table._table(shown, ranked, console)
        assert (
            table._width(shown, ranked, False)
            == Measurement.get(console, console.options, drawn).maximum
        )

    def test_shows_steps_where_no_samples_are_drawn(self, runs):
        shown = text(choose(runs("pgd", 0.1, samples=False)))
        assert "steps" in shown
        assert "samples" not in shown

    def test_shows_what_a_run_measured_in_the_place_of_time(self, runs):
        records = [
            replace(r, measure="memory", trace=(replace(last, metrics=measured),))
            for r in runs("a", 0.1)
            for last in r.trace[-1:]
            for measured in [{**last.metrics, "peak_bytes": 200 * 2**20}]
        ]
        shown = text(choose(records))
        assert "200.0 MiB" in shown
        assert "400 ms" not in shown
        assert "run to measure memory, which takes time: compare no times" in shown

    def test_shows_one_seed_without_a_spread(self, runs):
        shown = text(choose(runs("msg", 0.1, seeds=1)))
        assert "value" in shown
        assert "[" not in shown

    def test_of_nothing_is_nothing(self):
        assert text([]) == ""
        assert rows([]) == []

    def test_secondary_metrics_are_medians(self, runs):
        records = [
            replace(r, trace=(replace(r.trace[-1], metrics={**r.trace[-1].metrics, "rank": v}),))
            for r, v in zip(runs("a", 0.1), (3.0, 7.0, math.nan, 5.0, 100.0), strict=True)
        ]
        assert rows(choose(records))[0]["metrics"]["rank"] == 6
