"""The answers of a page: one for each cost and tolerance, but only one of very many solvers."""

from orthobench.report.page import answers
from orthobench.report.page.answers import family_answers
from orthobench.results.tuning import choose


def test_there_is_an_answer_for_each_cost_and_tolerance(runs):
    found = family_answers(choose([*runs("a", 1.0, 8), *runs("b", 9.0, 8)]))
    for (cost, label), answer in found.items():
        assert answer.cost == cost
        assert f"{100 * answer.tolerance:g} %" == f"{float(label.removesuffix(' %')):g} %"
    assert len(found) == 8


def test_with_more_pairs_than_allowed_there_is_only_the_first_answer(runs, monkeypatch):
    entries = choose([r for p in "pq" for s in "ab" for r in runs(s, 1.0, problem=p)])
    for allowed, keys in ((8, 8), (7, 1)):
        monkeypatch.setattr(answers, "MOST_PAIRS", allowed)
        assert len(family_answers(entries)) == keys
    assert list(family_answers(entries)) == [("seconds", "1 %")]
