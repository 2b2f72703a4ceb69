"""Changes between two stores: comparisons, refusals and notes."""

import io
import math
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
from records import altered
from rich.console import Console

from orthobench.errors import UsageError
from orthobench.harness.stopping import RunStatus
from orthobench.report.changes import (
    compare_stores,
    show,
)
from orthobench.results.results import Results
from orthobench.tools.formatting import number

MACHINE = {"cpu": "Xeon", "cores": 2, "platform": "Linux", "blas": [{"version": "1"}]}


@dataclass(frozen=True)
class Made(Results):
    """Results of made records, without a store."""

    environment: dict = field(default_factory=dict)

    def session(self):
        return {"text": "", "command": "", "started": "2026-01-02T03:04:05+00:00", "ended": None,
                "environment": self.environment}  # fmt: skip


def results(records, name="a", **environment):
    path = Path("home") / name / "results.sqlite"
    return Made("suite", path, records, environment={**MACHINE, **environment})


def compared(a, b, **environment):
    return compare_stores(results(a), results(b, "b", **environment))


def finals(records, metric="gap"):
    return {r.seed: math.inf if r.failed else r.trace[-1].metrics[metric] for r in records}


def quantity(changes, solver="msg", name="result"):
    return {s["solver"]: s for s in changes["solvers"]}[solver]["quantities"][name]


def shown(changes, width=100, encoding="utf-8"):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    show(changes, Console(file=file, width=width, color_system=None))
    file.flush()
    return file.buffer.getvalue().decode(encoding)


def test_a_solver_is_compared_with_itself_on_the_same_seeds(runs):
    a, b = runs("msg", 0.3, seeds=9), runs("msg", 0.1, seeds=10)
    change = compared(a + runs("oja", 1.0, seeds=9), b + runs("oja", 1.0, seeds=9))
    result = quantity(change)
    ratios = [finals(b)[seed] / finals(a)[seed] for seed in range(9)]
    assert result["factor"] == pytest.approx(np.median(ratios))
    assert result.items() >= {"change": "lower", "lower": 9, "higher": 0, "seeds": 9}.items()
    assert change["solvers"][0]["base"] == number(np.median(list(finals(a).values())))
    assert change["solvers"][0]["head"] == number(np.median([finals(b)[s] for s in range(9)]))
    assert quantity(change, "oja")["change"] == "same"
    assert quantity(change, "oja", "work")["change"] == "same"
    assert change["only"] == ["only in HEAD: msg on digits k=4, seeds 9"]
    assert change["sides"][0].startswith("suite of 2026-01-02 03:04 UTC, ")


def test_changes_both_ways_are_mixed(runs):
    a = runs("msg", 0.3, seeds=4)
    b = [*runs("msg", 0.1, seeds=2), *runs("msg", 0.9, seeds=4)[2:]]
    result = quantity(compared(a, b))
    assert result.items() >= {"change": "mixed", "lower": 2, "higher": 2, "seeds": 4}.items()


def test_solvers_of_one_store_are_named(runs):
    waiting = [altered(r, status=RunStatus.MISSING, trace=()) for r in runs("late", 0.1)]
    refusing = [altered(r, status=RunStatus.REFUSED, trace=()) for r in runs("shy", 0.1)]
    a = [*runs("msg", 0.3), *runs("old", 0.2), *runs("late", 0.2), *runs("shy", 0.2)]
    b = [*runs("msg", 0.3), *runs("new", 0.2), *waiting, *refusing]
    change = compared(a + runs("x", 1.0, problem="p"), b + runs("x", 1.0, problem="q"))
    assert [s["solver"] for s in change["solvers"]] == ["msg"]
    alone = [f"BASE: {name} on digits k=4" for name in ("old", "late", "shy")]
    alone += ["HEAD: new on digits k=4", "BASE: x on p", "HEAD: x on q"]
    assert {line.partition(", seeds")[0] for line in change["only"]} == {
        f"only in {one}" for one in alone
    }


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"settings": {"k": 5}}, "not the same problem in both: oja on digits k=4"),
        ({"recipe": "other"}, "not the same problem"),
        ({"primary": "rank"}, "not ranked by the same metric"),
        ({"budget": {"steps": 7}}, "not under the same budget"),
    ],
)
def test_different_questions_are_not_compared(runs, values, said):
    a = [altered(r, settings={"k": 4}) for r in runs("oja", 0.3)]
    b = [altered(r, **{"settings": {"k": 4, "new": 1}, **values}) for r in runs("oja", 0.3)]
    both = runs("msg", 0.3, problem="other")
    change = compared(a + both, b + both)
    assert {s["problem"] for s in change["solvers"]} == {"other"}
    assert said in change["only"][0]
    with pytest.raises(UsageError, match="--suite") as refusal:
        compared(a, b)
    assert said in str(refusal.value)


def test_the_same_store_twice_and_nothing_in_common_are_refused(runs):
    with pytest.raises(UsageError, match="given twice"):
        compare_stores(results(runs("msg", 1.0)), results(runs("msg", 1.0)))
    with pytest.raises(UsageError, match="no solver on the same problem"):
        compared(runs("msg", 1.0), runs("oja", 1.0))


def test_times_are_compared_on_the_same_machine_only(runs):
    a, b = runs("msg", 0.3, seeds=8), runs("msg", 0.3, seeds=8)
    slow = [replace(r, trace=[replace(m, seconds=2 * m.seconds) for m in r.trace]) for r in b]
    same = compared(a, slow)
    assert quantity(same, name="seconds")["change"] == "higher"
    assert quantity(same, name="seconds")["factor"] == pytest.approx(2, rel=1e-3)
    assert "orthobench compare" in same["notes"][0]
    for environment, said in [
        ({"cpu": "EPYC"}, "processor Xeon → EPYC"), ({"blas": []}, "BLAS"),
        ({"run": {"workers": 4}}, "4 in HEAD"),
        ({"cpu": "", "cores": "", "platform": ""}, "not say"),
    ]:  # fmt: skip
        other = compared(a, slow, **environment)
        assert other["notes"][0].startswith("times are not compared: ")
        assert said in other["notes"][0]
        assert "seconds" not in other["solvers"][0]["quantities"]


def test_other_parameters_and_versions_are_named(runs):
    a = [altered(r, parameters={"step": 2.0, "K": 3}) for r in runs("msg", 0.3)]
    b = [altered(r, parameters={"step": 1.0, "K": 3, "new": 0}) for r in runs("msg", 0.3)]
    change = compared(
        [replace(r, versions={"orthobench": "0.1"}) for r in a],
        [replace(r, versions={"orthobench": "0.2"}) for r in b],
    )
    assert change["solvers"][0]["parameters"] == "step=2 → 1"
    assert change["notes"][-1] == "versions: orthobench 0.1 → 0.2"


def test_the_terminal_says_what_changed(runs):
    a = runs("msg", 0.3, seeds=8) + runs("oja", 0.2, seeds=8) + runs("bad", 0.2, seeds=8, failed=8)
    b = runs("msg", 0.1, seeds=8) + runs("oja", 0.2, seeds=8) + runs("bad", 0.2, seeds=8, failed=8)
    change = compared(a, b)
    for encoding in ("utf-8", "ascii"):
        text = shown(change, encoding=encoding)
        lines = (line.replace("|", " ").split() for line in text.splitlines())
        rows = {words[0]: words for words in lines if words}
        assert " ".join(rows["msg"]).count("lower 8/8") == 2
        assert rows["oja"][3] == "same"
        assert rows["bad"][1:5] == ["failed", "failed", "not", "compared"]
        assert all(len(line) <= 100 for line in text.splitlines())
    lines = shown(change).splitlines()
    title = lines.index("digits k=4  final gap")
    assert lines[title - 1] == ""
    assert [line.rstrip("─") for line in lines[title + 1 : title + 7]] == [
        "solver     BASE     HEAD           result              work          time", "",
        "msg     4.67e-3  1.56e-3  0.33x lower 8/8  0.098x lower 8/8          same",
        "oja     3.11e-3  3.11e-3             same              same          same",
        "bad      failed   failed     not compared      not compared  not compared", "",
    ]  # fmt: skip
