"""A dozen small stores: terminal, page, JSON, notebook, advice and answer say the same of each."""

import json
import math
import re
from collections import Counter
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from records import altered, record

from orthobench.atlas.answers import compare as decided
from orthobench.atlas.collect import rows_of
from orthobench.cli import printing
from orthobench.contract.solver import Work
from orthobench.decide.answer import answer, plain_answer
from orthobench.decide.rule import Verdict
from orthobench.decide.wording import MARKS, mark
from orthobench.harness.stopping import RunStatus
from orthobench.harness.trace import Checkpoint
from orthobench.report.notebook_view import Results
from orthobench.report.page.content import page_content
from orthobench.report.page.write import rendered

SEEDS = 10


def run(solver, seed, final, *, problem="p", name="data", family="f", seconds=1.0, **more):
    marks = [
        Checkpoint(0.0, 0.0, Work(), {"gap": 1.0 + 1e-3 * seed}),
        Checkpoint(seconds, 0.1 * seconds, Work(5, 5, 5), {"gap": final}),
    ]
    status = RunStatus.DIVERGED if math.isinf(final) else RunStatus.DONE
    return record(
        f"{problem} {solver} {seed}", problem=problem, recipe=name, family=family, solver=solver,
        seed=seed, status=status, trace=tuple(marks), solver_name=solver.split()[0], **more,
    )  # fmt: skip


def runs(solver, level, seeds=SEEDS, noise=1e-6, **more):
    return [run(solver, s, level + noise * ((7 * s + len(solver)) % 5), **more)
            for s in range(seeds)]  # fmt: skip


def missing(records):
    return [altered(r, status=RunStatus.MISSING, trace=()) for r in records]


STORES = {
    "clear": runs("fast", 0.1) + runs("slow", 0.1, seconds=3.0) + runs("bad", 0.5, seconds=0.1),
    "partial": runs("fast", 0.1) + runs("slow", 0.1, seconds=3.0)[:6]
    + missing(runs("slow", 0.1)[6:]) + missing(runs("late", 0.1)),
    "one seed": runs("a", 0.1, seeds=1) + runs("b", 0.5, seeds=1),
    "three seeds": runs("a", 0.1, seeds=3) + runs("b", 0.5, seeds=3),
    "just begun": runs("a", 0.1, seeds=2) + runs("b", 0.1, seeds=2)
    + missing(runs("a", 0.1)[2:] + runs("b", 0.1)[2:]),
    "all failed": runs("a", math.inf) + runs("b", math.inf),
    "all equal": runs("a", 0.1, noise=0.0) + runs("b", 0.1, noise=0.0, seconds=2.0),
    "copies": [altered(r, seed=s, key=f"{r.key} {s}") for s in range(8)
               for r in (run("a", 0, 0.1), run("b", 0, 0.4, seconds=0.1))],
    "some failed": runs("a", 0.1) + runs("b", 0.1)[2:] + [run("b", s, math.inf) for s in (0, 1)],
    "one missed": [run("a", s, 0.6 if s == 3 else 0.1 + 1e-6 * s, seconds=9.0 if s == 3 else 1.0)
                  for s in range(12)] + runs("b", 0.1, seeds=12, seconds=4.0),
    "all failed once": [run("a", s, math.inf if s in (2, 5) else 0.1) for s in range(SEEDS)]
    + [run("b", s, math.inf if s < 9 else 0.1) for s in range(SEEDS)],
    "two families": runs("a", 0.1) + runs("b", 0.5)
    + runs("c", 0.1, problem="q", family="g") + runs("d", 0.5, problem="q", family="g"),
    "one for the rest": [r for p, levels in {"w 1": (0.1, 0.5, 0.5), "w 2": (0.1, 0.5, 0.5),
        "x 1": (0.5, 0.1, 0.1), "x 2": (0.5, 0.1, 0.5), "y": (0.1, 0.5, 0.5)}.items()
                     for solver, level, seconds in zip("abc", levels, (1.0, 1.3, 1.0), strict=True)
                     for r in runs(solver, level, problem=p, seconds=seconds, name=p[0])],
    "nothing": missing(runs("a", 0.1)),
}  # fmt: skip

TOLD = {
    "clear": "Use fast: …1.10 s, on 10 of 10 seeds; the next takes 3 times as long.",
    "partial": "Use fast: …1.10 s, on 10 of 10 seeds; the next takes 3 times as long.",
    "one seed": "1 seed …orthobench run a/s.toml --seeds 5.",
    "three seeds": "3 seeds …--seeds 5.",
    "just begun": "2 seeds …orthobench run a/s.toml.",
    "all failed": "No solver…failed…",
    "all equal": "Use a: …2 solvers, 1.10 s, on 10 of 10 seeds; the next takes 2 times as long.",
    "copies": "Use a: …1.10 s, on 8 of 8 seeds.",
    "some failed": "Use a: …1.10 s, on 10 of 10 seeds.",
    "one missed": "Use a: …1.10 s, on 11 of 12 seeds; the next takes 4 times as long.",
    "all failed once": "Use a: …1.10 s, on 8 of 10 seeds.",
    "two families": "f: Use a: …on 10 of 10 seeds. g: Use c: …on 10 of 10 seeds.",
    "one for the rest": "Use a: …on 3 of 5 problems, in 30 of 30 runs. Else use b on x 1 and x 2.",
    "nothing": "No run is finished yet.",
}


@pytest.fixture
def stores(monkeypatch):
    """The results of each store, by its name."""
    session = {"environment": {}, "text": "", "started": "2026", "ended": "2026"}
    session["command"] = "orthobench run a/s.toml"
    monkeypatch.setattr(Results, "session", lambda self: session)
    monkeypatch.setattr(Results, "exhibits", lambda self, records: {r.key: {} for r in records})
    return {name: Results("s", Path("results.sqlite"), own) for name, own in STORES.items()}


def test_the_sentence_is_what_a_person_can_act_on(stores):
    for name, results in stores.items():
        pattern = ".*".join(map(re.escape, TOLD[name].split("…")))
        assert re.fullmatch(pattern, results.answer().sentence), name


def test_terminal_json_notebook_and_answer_agree(stores, capsys, monkeypatch):
    for name, results in stores.items():
        agree(name, results, capsys, monkeypatch)


def agree(name, results, capsys, monkeypatch):
    found = results.answer()
    printing.print_results(results, None, as_json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["answer"] == json.loads(json.dumps(plain_answer(found)))
    for key in ("use", "parameters", "sentence", "as_good_on", "problems", "alternatives"):
        assert key in facts["answer"], name
    monkeypatch.setenv("COLUMNS", "80")
    printing.print_results(results, None, as_json=False, tables=True)
    printed = capsys.readouterr().out
    notebook = unescape(re.sub("<[^>]*>", "", results._repr_html_()))
    families = found.by_family.values() or [found]
    for one in families:
        assert one.sentence in " ".join(printed.split()), name
        assert one.sentence in " ".join(notebook.split()), name
    assert max(map(len, printed.splitlines())) <= 80
    verdicts = {(row["problem"], row["solver"]): row for row in facts["table"]}
    for comparison in found.comparisons:
        for d in comparison.decisions:
            row = verdicts[comparison.problem, d.solver]
            assert row["verdict"] == d.verdict.value, name
            assert row["reached"] == d.reached <= row["seeds"], name
            assert (row["mark"] == "star") == (comparison.cheapest == d.solver)
            symbol = MARKS[row["mark"]][0] if row["mark"] else ""
            if d.verdict.value != "absent":
                assert re.search(rf"(?m)^{d.solver} .*{re.escape(symbol)}", notebook)
                assert re.search(rf"(?m)^{re.escape(symbol):1} *{d.solver} ", printed)


def test_the_page_says_the_same(stores):
    for name, results in stores.items():
        page_agrees(name, results)


def page_agrees(name, results):
    content = page_content(results)
    html = unescape(rendered(content))
    found = results.answer()
    marks = {
        (p["label"], row.result.solver): row.mark for p in content["problems"] for row in p["rows"]
    }
    for family in (found.by_family or {"f": found}).values():
        assert f">{family.sentence}</p>" in html, name
        for comparison in family.comparisons:
            for d in comparison.decisions:
                kind = mark(comparison, d.solver)
                assert marks.get((comparison.problem, d.solver), "") == kind
    views = html.split("<div data-key=")
    first_views = "".join(view for view in views if " hidden>" not in view[:80])
    shown = [td for td in re.findall(r'<td class="(\w+)"><a', first_views) if td in MARKS]
    assert Counter(shown) == Counter(
        kind for c in found.comparisons for d in c.decisions if (kind := mark(c, d.solver))
    )


def test_advice_from_an_atlas_of_the_store_says_the_same(stores):
    for name, results in stores.items():
        advice_agrees(name, results)


def advice_agrees(name, results):
    found = results.answer()
    own = answer(decided(rows_of([results])), results.suite_as_typed)
    assert own.use == found.use, name
    if name not in ("partial", "just begun"):  # it does not know of what is to come
        assert own.sentence == found.sentence, name
    verdicts = {(c.problem, d.solver): d.verdict for c in own.comparisons for d in c.decisions}
    for comparison in found.comparisons:
        for d in comparison.decisions:
            ours = verdicts.get((comparison.problem, d.solver), Verdict.ABSENT)
            assert ours is d.verdict, (name, d.solver)


def test_the_tolerance_of_the_suite_holds_everywhere(stores, capsys):
    results = replace(stores["clear"], tolerance=0.6)
    assert results.answer().tolerance == 0.6
    assert "bad" in {d.solver for c in results.answer().comparisons for d in c.as_good}
    printing.print_results(results, None, as_json=True)
    facts = json.loads(capsys.readouterr().out)
    assert facts["answer"]["tolerance"] == 0.6
    assert {row["tolerance"] for row in [*facts["table"], *results.table()]} == {0.6}
    (family,) = page_content(results)["families"]
    assert list(family["answers"])[:2] == [("seconds", "60 %"), ("seconds", "0.0001 %")]


def test_another_cost_may_give_another_star():
    dear = [altered(r, trace=tuple(_work(at, 50) for at in r.trace)) for r in runs("fast", 0.1)]
    results = Results("s", Path("x"), dear + runs("slow", 0.1, seconds=3.0))
    assert results.answer().use == "fast"
    assert results.answer(cost="samples").use == "slow"
    assert results.answer(tolerance=1e-9).tolerance == 1e-9


def _work(at, times):
    work = Work(*(times * n for n in (at.work.steps, at.work.samples, at.work.flops)))
    return Checkpoint(at.seconds, at.readout_seconds, work, at.metrics)
