"""Claims are checked on runs of their suites, each as a line, and a page is made of them."""

import json
import math
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from orthobench import api
from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.registry.claims import Claim, Measurement, Paper, Verdict
from orthobench.registry.plugins import Plugin, Provided, catalogue
from orthobench.reproduce import publish
from orthobench.reproduce.check import Checked, check, measured, select
from orthobench.reproduce.publish import SIGNS
from orthobench.reproduce.runs import Runs
from orthobench.results.results import Results
from orthobench.stats.estimates import median_within, ratio_within, share_within

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
        assert found["counted"].measurement.verdict is Verdict.HOLDS
        assert found["counted"].measurement.value == pytest.approx(1 / 3)
        assert found["beats"].measurement.verdict in {Verdict.HOLDS, Verdict.UNDECIDED}
        assert len(runs.results["race"].records) == 12
        assert "ojaa" in found["typo"].error
        assert "oja" in found["typo"].error
        assert "on purpose" in found["breaks"].error
        assert found["private"].measurement.verdict is Verdict.UNTESTABLE
        assert "no-such-file" in found["absent"].measurement.text
        assert {name for name, one in found.items() if one.red} >= {"typo", "breaks"}
        assert not found["private"].red
        assert not found["absent"].red

    def test_several_workers_are_processes(self, paper, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(api, "run", lambda *_, **words: asked.append(words))
        for workers in (1, 2):
            Runs(paper, tmp_path, quiet=True, workers=workers).run("race")
        assert [(words["executor"], words["workers"]) for words in asked] == [
            ("inline", 1), ("local", 2),
        ]  # fmt: skip

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

    def test_a_problem_is_looked_for_among_those_of_its_solver(self, runs):
        pairs = ("ap", "aq", "bp", "cq")
        entries = [SimpleNamespace(solver=s, problem=p, records=s + p) for s, p in pairs]
        runs.results["race"] = SimpleNamespace(entries=entries)
        for problem, solver, said in (
            ("q", "b", "unknown problem in suite race: 'q'"),
            ("r", "d", "unknown problem in suite race: 'r'"),
            ("p", "d", "unknown solver in suite race: 'd'"),
        ):
            with pytest.raises(UsageError, match=said):
                runs.records("race", problem, solver)

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


def test_a_measured_value_without_spread_is_a_number():
    assert measured(Measurement(Verdict.HOLDS, 1.0, (1, 1), "a")) == "1"


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

    def test_a_paragraph_has_what_was_measured_here_unless_the_claim_says_it(self):
        claim = Claim("first", "It holds.", "Figure 1", beats, reason="No code is published.")
        for value, text, here in (
            (0.5, "a ratio", "Here 0.500: a ratio. "), (math.nan, "no data", "no data. "),
            (math.nan, claim.reason, ""), (math.nan, "", ""),
        ):  # fmt: skip
            found = Checked(claim, Measurement(Verdict.HOLDS, value, text=text), False)
            sentence = f"**{SIGNS[Verdict.HOLDS]}**: It holds. "
            assert publish._paragraph(found) == f"{sentence}{here}{claim.reason}"
