"""Claims are checked on runs of their suites, each as a line, and a page is made of them."""

import json
import math

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.registry.claims import Claim, Measurement, Paper, Verdict
from orthobench.registry.plugins import Plugin, Provided, catalogue
from orthobench.reproduce.check import Checked, check, measured, select
from orthobench.reproduce.runs import Runs
from orthobench.results.results import Results
from orthobench.stats.estimates import (
    always_within,
    mean_within,
    median_within,
    ratio_within,
    share_within,
    together,
)

SUITE = """
seeds = {seeds}
[budget]
samples = 300
[[problem]]
name = "spiked-covariance"
label = "spiked"
n = 12
k = 2
[[solver]]
name = "oja"
label = "oja"
step = 1.0
[[solver]]
name = "incremental-pca"
"""


def beats(evidence):
    first = evidence.finals("race", "spiked", "incremental-pca", "suboptimality")
    second = evidence.finals("race", "spiked", "oja", "suboptimality")
    return ratio_within(first, second, 0, 1, "incremental-pca / oja")


def counted(evidence):
    return share_within([seed % 3 == 0 for seed in evidence.seeds[:300]], 0.25, 0.42, "thirds")


def typo(evidence):
    return median_within(evidence.finals("race", "spiked", "ojaa", "suboptimality"))


def breaks(evidence):
    raise ZeroDivisionError("on purpose")


CLAIMS = (
    Claim("beats", "Incremental PCA ends below Oja.", "Figure 1", beats, suites=("race",)),
    Claim("counted", "A third of all | numbers.", "section 2", counted, printed="1/3"),
    Claim("typo", "Names are checked.", "section 3", typo),
    Claim("breaks", "Nothing breaks.", "section 3", breaks),
    Claim(
        "private", "Needs data.", "Table 1", known=Verdict.UNTESTABLE,
        reason="the data are not free; nothing stands in",
    ),
    Claim("absent", "Needs a file.", "Table 2", counted, data=("no-such-file",)),
)  # fmt: skip


@pytest.fixture
def paper(tmp_path):
    suites = tmp_path / "suites"
    (suites / "quick").mkdir(parents=True)
    (suites / "race.toml").write_text(SUITE.format(seeds=6))
    (suites / "quick" / "race.toml").write_text(SUITE.format(seeds=2))
    return Paper("toy-2026", "Nobody: *Nothing*, 2026.", CLAIMS, suites)


@pytest.fixture
def runs(paper, tmp_path):
    return Runs(paper, tmp_path / "results", quiet=True)


class TestCheck:
    def test_each_claim_has_its_verdict(self, paper, runs):
        found = {one.claim.name: one for one in check(paper.claims, runs)}
        assert found["counted"].found.verdict is Verdict.HOLDS
        assert found["counted"].found.value == pytest.approx(1 / 3)
        assert found["beats"].found.verdict in {Verdict.HOLDS, Verdict.UNDECIDED}
        assert len(runs.results["race"].records) == 12
        assert "ojaa" in found["typo"].error
        assert "oja" in found["typo"].error
        assert "on purpose" in found["breaks"].error
        assert found["private"].found.verdict is Verdict.UNTESTABLE
        assert "no-such-file" in found["absent"].found.text
        assert {name for name, one in found.items() if one.red} >= {"typo", "breaks"}
        assert not found["private"].red
        assert not found["absent"].red

    def test_quick_and_other_seeds_are_other_runs(self, paper, tmp_path):
        first = Runs(paper, tmp_path / "a", quick=True, quiet=True)
        second = Runs(paper, tmp_path / "a", quick=True, first_seed=7, quiet=True)
        names = ("race", "spiked", "oja")
        assert [r.seed for r in first.records(*names)] == [0, 1]
        assert [r.seed for r in second.records(*names)] == [7, 8]
        assert second.seeds[0] == 7

    def test_exhibits_come_seed_by_seed(self, runs, monkeypatch):
        names = ("race", "spiked", "oja")
        assert runs.exhibits(*names) == [{}] * 6

        def shown(results, records):
            return {record.key: {"seed": record.seed} for record in reversed(records)}

        monkeypatch.setattr(Results, "exhibits", shown)
        assert [each["seed"] for each in runs.exhibits(*names)] == list(range(6))

    def test_an_unknown_claim_suggests_the_nearest(self, paper):
        with pytest.raises(UsageError, match="beats"):
            select(paper, ["beat"])
        assert [c.name for c in select(paper, ["typo"])] == ["typo"]

    @pytest.mark.parametrize(
        ("known", "verdict", "quick", "red"),
        [
            (Verdict.HOLDS, Verdict.HOLDS, False, False),
            (Verdict.HOLDS, Verdict.FAILS, False, True),
            (Verdict.HOLDS, Verdict.FAILS, True, True),
            (Verdict.FAILS, Verdict.HOLDS, True, True),
            (Verdict.HOLDS, Verdict.UNDECIDED, False, True),
            (Verdict.HOLDS, Verdict.UNDECIDED, True, False),
            (Verdict.HOLDS, Verdict.UNTESTABLE, False, False),
        ],
    )
    def test_what_is_not_as_published_is_red(self, known, verdict, quick, red):
        claim = Claim("c", "s", "f", counted, known=known, reason="because")
        assert Checked(claim, Measurement(verdict), quick).red is red


class TestEstimates:
    def test_the_whole_interval_decides(self):
        values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.02, 0.98]
        assert median_within(values, 0.5, 1.5).verdict is Verdict.HOLDS
        assert median_within(values, 1.5).verdict is Verdict.FAILS
        assert median_within(values, 1.0).verdict is Verdict.UNDECIDED

    def test_ratios_are_paired(self):
        a = [1.0, 10.0, 100.0, 1000.0]
        found = ratio_within([2 * x for x in a], a, 1.99, 2.01)
        assert found.value == 2
        assert found.interval == (2, 2)

    def test_a_mean_has_students_interval(self):
        values = [1.0, 2.0, 3.0, 4.0]
        half = 3.182446305284263 * (5 / 3) ** 0.5 / 2
        found = mean_within(values, 0.0, 2.5 + half)
        assert found.value == 2.5
        assert found.interval == pytest.approx((2.5 - half, 2.5 + half))
        assert mean_within(values, 2.4).verdict is Verdict.UNDECIDED
        assert mean_within(values, high=0.4).verdict is Verdict.FAILS

    def test_a_share_has_wilsons_interval(self):
        found = share_within([True] * 5 + [False] * 4)
        p, n, z = 5 / 9, 9, 1.959963984540054
        centre = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
        assert found.interval == pytest.approx((centre - half, centre + half))

    def test_one_value_outside_refutes_what_is_said_of_all(self):
        assert always_within([1.0, 2.0, 3.0], 1, 3).verdict is Verdict.HOLDS
        assert always_within([1.0, 2.0, 3.0], high=2.9).verdict is Verdict.FAILS
        assert always_within([1.0, float("nan")], 0, 3).verdict is Verdict.FAILS
        assert always_within([1.0, 2.0, 3.0], 0, 4).interval == (1, 3)
        assert always_within([0.1, 2.0], low=0.5).value == 0.1
        assert always_within([0.1, 2.0], high=3.0).value == 2.0

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    @pytest.mark.parametrize("bounds", [{"low": 2.0}, {"high": 4.0}, {}])
    def test_what_is_not_finite_lies_outside_whatever_the_bounds(self, bad, bounds):
        found = always_within([3.0, bad], **bounds)
        assert found.verdict is Verdict.FAILS
        assert (found.value, found.interval) == (math.inf, (3.0, math.inf))

    def test_several_hold_together(self):
        good = Measurement(Verdict.HOLDS, 1.0, (1, 1), "a")
        bad = Measurement(Verdict.FAILS, 2.0, (2, 2), "b")
        assert together([good, bad]).verdict is Verdict.FAILS
        assert together([good, bad]).value == 2
        assert together([good, good]).verdict is Verdict.HOLDS
        assert measured(good) == "1"


class TestClaim:
    def test_what_cannot_be_published_is_refused(self):
        with pytest.raises(ValueError, match="hyphens"):
            Claim("Not a name", "s", "f", counted)
        with pytest.raises(ValueError, match="without a check"):
            Claim("a", "s", "f")
        with pytest.raises(ValueError, match="say why"):
            Claim("a", "s", "f", counted, known=Verdict.FAILS)
        with pytest.raises(ValueError, match="two claims"):
            Paper("p", "r", (CLAIMS[0], CLAIMS[0]), suites=None)


class TestCommand:
    @pytest.fixture(autouse=True)
    def installed(self, paper, monkeypatch):
        provided = {paper.name: Provided(paper, Plugin("toy"))}
        monkeypatch.setattr(catalogue(), "papers", catalogue().papers | provided)

    def test_a_line_a_claim_and_exit_code_1_where_something_changed(self, tmp_path):
        folder = ["--store", str(tmp_path / "r"), "-q"]
        done = CliRunner().invoke(main, ["reproduce", "toy-2026", "--claim", "counted", *folder])
        assert done.exit_code == 0, done.output
        assert "A third of all" in done.output
        assert "1 claim: 1 holds; all as published" in done.output
        done = CliRunner().invoke(main, ["reproduce", "toy-2026", *folder])
        assert done.exit_code == 1
        assert "2 could not be checked" in done.output

    def test_json(self, tmp_path):
        folder = ["--store", str(tmp_path / "r")]
        words = ["reproduce", "toy-2026", "--claim", "counted", "--json", *folder]
        (facts,) = json.loads(CliRunner().invoke(main, words).output)
        assert facts["verdict"] == "holds"
        assert facts["value"] == pytest.approx(1 / 3)

    def test_papers_are_listed_and_unknown_ones_refused(self):
        assert "toy-2026" in CliRunner().invoke(main, ["reproduce"]).output
        done = CliRunner().invoke(main, ["reproduce", "toy-2025"])
        assert done.exit_code == 2
        assert "toy-2026" in done.output

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["toy-2026", "--publish", "--claim", "beats"], "a page has all claims"),
            (["toy-2026", "--out", "page"], "add --publish"),
            (["--quick"], "which paper?"),
            (["toy-2026", "--publish", "--out", "/dev/null/page"], "name another with --out"),
        ],
    )
    def test_calls_that_mean_nothing_are_refused(self, words, said, monkeypatch):
        monkeypatch.setattr(Runs, "__init__", None)  # nothing runs before
        done = CliRunner().invoke(main, ["reproduce", *words])
        assert done.exit_code == 2
        assert said in done.stderr

    def test_an_interruption_is_no_verdict(self, monkeypatch):
        def interrupted(*about):
            raise KeyboardInterrupt

        monkeypatch.setattr(Runs, "__init__", interrupted)
        done = CliRunner().invoke(main, ["reproduce", "toy-2026"])
        assert (done.exit_code, done.stderr) == (130, "interrupted\n")

    def test_a_page_names_the_command_that_makes_it(self, tmp_path):
        words = ["toy-2026", "--quick", "--first-seed", "7", "--publish", "-q"]
        folders = ["--store", str(tmp_path / "r"), "--out", str(tmp_path / "page")]
        CliRunner().invoke(main, ["reproduce", *words, *folders])
        page = (tmp_path / "page" / "README.md").read_text()
        assert "`orthobench reproduce toy-2026 --quick --first-seed 7 --publish`" in page
