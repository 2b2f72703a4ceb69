"""Heat maps of tuning, against the scores of the trials themselves."""

import math

from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.page.problems import Problem
from orthobench.results.tuning import choose


def heat_maps(entries):
    return Problem("p", entries, [], range(0)).heat_maps


def entries(runs, pairs):
    return choose([r for tuned, level in pairs for r in runs("a", level, tuned=tuned)])


def test_each_pair_of_values_shows_its_score(runs):
    pairs = [({"step": s, "batch": b}, 10.0**s * b) for s in (2, 1, 3) for b in (1, 4)]
    (entry,) = entries(runs, pairs)
    (found,) = heat_maps([entry])
    assert (found.down, found.across, found.columns) == ("step", "batch", ["1", "4"])
    assert [value for value, _ in found.rows] == ["1", "2", "3"]
    scores = {(t.tuned["step"], t.tuned["batch"]): t.score for t in entry.trials}
    low, high = math.log(min(scores.values())), math.log(max(scores.values()))
    for step, (_, cells) in zip((1, 2, 3), found.rows, strict=True):
        for batch, (text, shade, chosen) in zip((1, 4), cells, strict=True):
            score = scores[step, batch]
            assert float(text) == float(f"{score:.3g}")
            assert shade == round(100 * (math.log(score) - low) / (high - low))
            assert chosen == (entry.best_parameters == {"step": step, "batch": batch})


def test_a_failed_trial_says_so_and_one_that_is_not_there_is_empty(runs):
    pairs = [({"step": s, "batch": b}, 1.0 + s) for s, b in [(1, 1), (1, 2), (2, 1)]]
    records = [r for tuned, level in pairs for r in runs("a", level, tuned=tuned)]
    records[-1] = altered(records[-1], status=RunStatus.DIVERGED)
    (found,) = heat_maps(choose(records))
    texts = [[text for text, _, _ in cells] for _, cells in found.rows]
    assert texts[1] == ["failed", ""]
    assert found.rows[1][1][0][1] == 100


def test_one_parameter_has_a_curve_and_no_map(runs):
    assert list(heat_maps(entries(runs, [({"step": s}, s) for s in (1.0, 2.0)]))) == []
