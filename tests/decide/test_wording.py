"""Sentences about decisions, one branch at a time."""

import math
import re
from dataclasses import replace

from decisions import good, other

from orthobench.decide.answer import answer
from orthobench.decide.rule import FEWEST, Comparison, Decision, Verdict
from orthobench.decide.wording import (
    ALIKE,
    MOST_ASKED,
    evidence,
    seeds_text,
    use_sentence,
    verdict_text,
)
from orthobench.harness.suite import COMMAND_LINE, PYTHON

GOOD, OPEN, UNTESTED, WORSE, FAILED, ABSENT = Verdict
INF = math.inf


def on(problem, *decisions, **more):
    settings = {"cost": "seconds", "seeds": 6, "name": problem.split()[0], **more}
    best = next((d.solver for d in decisions if d.verdict in (GOOD, OPEN)), None)
    block = settings.pop("block", problem)
    return Comparison(problem, block, "f", "gap", best, decisions, **settings)


def sentence(*comparisons, suite=""):
    return answer(comparisons, suite).sentence


def test_verdicts_in_a_few_words():
    for decision, text in (
        (good("a", 1.0), "as good"), (good("a", 1.0, exact=1.0), "exact"),
        (good("a", 1.0, exact=2.0), "as good"), (other("a", FAILED, n_failed=3), "3 failed"),
        (other("a", OPEN, more_seeds=4), "undecided"), (other("a", UNTESTED), "untested"),
    ):  # fmt: skip
        assert verdict_text(decision) == text
    assert seeds_text(good("a", 1.0, misses=2)) == "4/6"
    assert seeds_text(other("a", OPEN)) == ""


def test_how_far_ahead_the_cheapest_is():
    for cost, own, next_one, text in (
        ("seconds", 1.0, 3.0, "; the next takes 3 times as long."),
        ("seconds", 1.0, 1.04, "; the next takes about the same time."),
        ("seconds", 1.0, ALIKE, "; the next takes 1.1 times as long."),
        ("flops", 1.0, 3.0, "; the next needs 3 times as many flops."),
        ("seconds", 0.0, 3.0, "on 6 of 6 seeds."), ("seconds", 1.0, INF, "on 6 of 6 seeds."),
    ):  # fmt: skip
        said = sentence(on("p", good("a", own), good("b", next_one, 3.0), cost=cost))
        assert said.startswith("Use a: ")
        assert said.endswith(text)


def test_the_call_that_is_named_has_stop_cost_and_seeds():
    said = sentence(on("p", good("a", 1.0, misses=1, stop=[("steps", 129)])))
    assert said.endswith("seen by 1 solver, 1.00 s, on 5 of 6 seeds.")
    assert sentence(on("p", good("a", 1.0))).endswith(", 1.00 s, on 6 of 6 seeds.")
    said = sentence(on("p", good("a", 1e3), cost="samples"))
    assert said.endswith(", 1,000 samples, on 6 of 6 seeds.")
    assert sentence(on("p", good("a", INF))).endswith(", unknown time, on 6 of 6 seeds.")
    both = sentence(on("p", good("a", 1.0, misses=1)), on("q", good("a", 1.0)))
    assert both.endswith("on both problems, in 11 of 12 runs.")


def test_an_exact_call_is_named_with_the_cheaper_one_beside_it():
    near = good("near", 0.5)
    near = replace(near, call=replace(near.call, metrics={"suboptimality": 0.25}))
    one = on("p", good("a", 0.6, exact=0.6), near)
    assert sentence(one).startswith("Use a: exact, 600 ms")
    assert sentence(one).endswith(" near takes 500 ms.")  # no problem of its family is installed
    known = sentence(replace(one, family="stochastic PCA", metric="suboptimality"))
    assert re.search(r" near takes 500 ms: .*0\.25\.$", known)
    said = sentence(on("p", good("a", 9.0, exact=9.0), near))
    assert said.startswith("Use near: within 1 % ")
    assert said.endswith(" a is exact and takes 9.00 s.")


def test_leads_over_several_problems_are_a_span():
    said = sentence(
        on("p", good("a", 1.0), good("b", 2.0, 2.0), good("c", 9.0, 9.0)),
        on("q", good("a", 1.0), good("c", 4.0, 4.0)),
    )
    assert said.endswith("on both problems, in 12 of 12 runs; the next takes 2 to 4 times as long.")
    said = sentence(on("p", good("a", 1.0), good("b", 2.0, 2.0)), on("q", good("a", 1.0)))
    assert said.endswith("; the next takes 2 times as long on the 1 with another as good.")


def dearer(factors, others=None):
    """Comparisons of `a`, at these factors of the cost of `b`, which misses the last of them."""
    found = [
        on(f"p{i}", *sorted([good("a", f, f), good("b", 1.0)], key=lambda d: d.cost))
        for i, f in enumerate(factors)
    ]
    return [*found, on("last", good("a", 1.0), other("b", WORSE))]


def test_the_price_of_one_that_is_not_the_cheapest():
    said = sentence(*dearer([2.0, 1.0, 1.0])[:2], on("q", good("a", 1.0), other("b", WORSE)))
    assert said.endswith(", 1.3 times the cheapest on average, at most 2; b is the cheapest on 1.")
    assert sentence(*dearer([1.04, 1.02])).endswith(", at about the least time.")
    assert sentence(*dearer([ALIKE])).endswith(
        ", about the cheapest on average, at most 1.1; b is the cheapest on 1."
    )
    assert use_sentence(["a"], dearer([3.0])[:1]).endswith(", at 3 times the time of b.")
    unknown = [on("p", good("b", 1.0), good("a", 2.0, INF))]
    assert use_sentence(["a"], unknown).endswith(" seeds.")


def test_another_solver_is_named_for_the_other_problems():
    said = sentence(
        on("x 1", good("a", 1.0), other("b", WORSE)), on("x 2", good("a", 1.0), other("b", WORSE)),
        on("y", good("b", 1.0), other("a", WORSE)),
    )  # fmt: skip
    assert said.endswith("on 2 of 3 problems, in 12 of 12 runs. Else use b on y.")


def waiting(seeds=2, more=None, planned=None):
    decisions = [Decision(n, OPEN, seeds=seeds, more_seeds=more) for n in "ab"]
    return on("p", *decisions, seeds=planned or seeds)


def test_the_sentence_says_what_to_run_if_nobody_is_as_good():
    for one, suite, text in (
        (waiting(2, 3), "", ""),
        (waiting(1, 4), "s.toml", ": orthobench run s.toml --seeds 5"),
        (waiting(2, 3), "a/b c.toml", ": orthobench run 'a/b c.toml' --seeds 5"),
        (waiting(2, 3), COMMAND_LINE, ": add --seeds 5"),
        (waiting(2, 3), PYTHON, ": pass seeds=5"),
        (waiting(2, 3, planned=5), "s.toml", ": orthobench run s.toml"),
        (waiting(2, 3, planned=5), PYTHON, ": run it again"),
        (waiting(5, 7), "quickstart", ": orthobench run quickstart --seeds 12"),
        (waiting(5, MOST_ASKED), "s.toml", ": orthobench run s.toml --seeds 105"),
        (waiting(2, 3), "tables", ": pass seeds=5"),
        (waiting(5, MOST_ASKED + 1), "s", ""),
        (waiting(5, None), "s", ""),
        (waiting(4, 1), "", ""),
    ):
        seeds = one.distinct
        why = (
            f"{seeds} seed{'s' * (seeds > 1)} cannot decide among the solvers; {FEWEST} can"
            if seeds < 5
            else f"{seeds} seeds do not show which of 2 is as good as the best"
        )
        assert sentence(one, suite=suite) == f"{why}{text}."


def test_absent_solvers_are_not_counted_and_copies_promise_nothing():
    one = waiting(2, 3)
    absent = replace(one, decisions=(*one.decisions, Decision("c", ABSENT)))
    assert sentence(absent) == "2 seeds cannot decide among the solvers; 5 can."
    copied = replace(one, decisions=tuple(replace(d, copies=3) for d in one.decisions))
    assert sentence(copied) == "2 seeds cannot decide among the solvers."


def test_nobody_is_named_if_all_failed_or_none_ran():
    assert sentence() == sentence(on("p", Decision("a", ABSENT))) == "No run is finished yet."
    failed = on("p", other("a", FAILED), Decision("b", ABSENT))
    assert sentence(failed).startswith("No solver: half of the runs of each failed")


def test_problems_without_a_good_solver_are_named():
    found = sentence(on("p", good("a", 1.0)), replace(waiting(6, 4), problem="q"), suite="s.toml")
    assert found.endswith(
        " No solver is shown to be as good as the best on q: orthobench run s.toml --seeds 10."
    )


def test_the_evidence_is_what_was_tested():
    assert evidence([]) == ""
    one = on("p", good("a", 1.0), other("b", WORSE), other("c", UNTESTED), other("d", ABSENT))
    assert "within 1 % of" in evidence([one])
    assert "2 of 4 solvers tested on 6 seeds, 1 problem;" in evidence([one])
    few = on("p", good("a", 1.0, seeds=1), tolerance=0.25)
    several = [few, on("q", good("a", 1.0, copies=1))]
    assert "within 25 % of" in evidence(several)
    assert "tested on 1 to 6 seeds (copies of a run count once), 2 problems;" in evidence(several)
    assert "on 1 seed," in evidence([few])
