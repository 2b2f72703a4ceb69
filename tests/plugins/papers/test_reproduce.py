"""Claims are checked on runs of their suites, each as a line, and a page is made of them."""

import pytest
from click.testing import CliRunner
from orthobench_papers.reproduce import origin
from orthobench_papers.reproduce.check import Checked, check, counts_line, select
from orthobench_papers.reproduce.claims import Claim, Measurement, Paper, Verdict
from orthobench_papers.reproduce.estimates import always_within, median_within, share_within
from orthobench_papers.reproduce.runs import Evidence

import orthobench as ob
from orthobench import api
from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, Provided, catalogue
from orthobench.results.results import Results

SUITE = """
seeds = { full = 6, quick = 3 }
[budget]
samples = { full = 300, smoke = 40 }
[[problem]]
name = "spiked-covariance"
label = "spiked"
n = { full = [12, 20], quick = [8, 9] }
k = 2
[[solver]]
name = "oja"
label = "mine"
step = 1.0
[[solver]]
name = "oja"
label = "mine, longer"
relative = false
step = { tune = { full = [2.0, 4.0], smoke = [2.0] } }
[[solver]]
name = "incremental-pca"
"""
PLACE = ("race", "spiked-covariance n=12")


def beats(evidence):
    problem = evidence.problems("race", "spiked-covariance")[0]
    first = evidence.finals("race", problem, "incremental-pca", "suboptimality")
    second = evidence.finals("race", problem, "oja step=1", "suboptimality")
    return median_within(first / second, 0, 1, "incremental-pca / oja")


def counted(evidence):
    return share_within([seed % 3 == 0 for seed in evidence.seeds[:300]], 0.25, 0.42, "thirds")


def solved(evidence):
    metrics = ob.solve("batch-pca", "digits k=2", seed=0).trace[-1].metrics
    return always_within([metrics["suboptimality"]], high=1.0, text="suboptimality")


def typo(evidence):
    return median_within(evidence.finals("race", "spiked-covariance", "ojaa", "suboptimality"))


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
    Claim("solved", "One pass over the data is enough.", "section 4", solved),
)  # fmt: skip


def toy(folder):
    suites = folder / "suites"
    suites.mkdir()
    (suites / "race.toml").write_text(SUITE)
    return Paper("toy-2026", "Nobody: *Nothing*, 2026.", CLAIMS, suites)


@pytest.fixture
def paper(tmp_path):
    return toy(tmp_path)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    return Evidence(toy(folder), folder / "results", quiet=True)


class TestCheck:
    def test_each_claim_has_its_verdict(self, runs):
        checked = [*check(CLAIMS, runs)]
        found = {one.claim.name: one for one in checked}
        assert found["counted"].measurement.verdict is Verdict.HOLDS
        assert found["counted"].measurement.value == pytest.approx(1 / 3)
        assert found["beats"].measurement.verdict in {Verdict.HOLDS, Verdict.UNDECIDED}
        assert len(runs.results["race"].records) == 2 * 6 * 4
        assert "oja" in found["typo"].error
        assert "on purpose" in found["breaks"].error
        assert found["private"].measurement.verdict is Verdict.UNTESTABLE
        assert "no-such-file" in found["absent"].measurement.text
        red = {name for name, one in found.items() if one.red}
        assert {"typo", "breaks"} <= red <= {"typo", "breaks", "beats"}
        assert "2 could not be checked" in counts_line(checked)

    def test_several_workers_are_processes(self, paper, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr(api, "run", lambda *_, **words: asked.append(words))
        for workers in (1, 2):
            Evidence(paper, tmp_path, quiet=True, workers=workers).run("race")
        assert [(words["executor"], words["workers"]) for words in asked] == [
            ("inline", 1), ("local", 2),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("size", "seeds", "firsts"), [("full", 6, (7,)), ("quick", 3, (7,)), ("smoke", 2, (0, 7))]
    )
    def test_sizes_and_other_seeds_are_other_runs(self, paper, tmp_path, size, seeds, firsts):
        for first in firsts:
            runs = Evidence(paper, tmp_path / "a", size, first, quiet=True)
            problem, larger = runs.problems("race", "spiked-covariance")
            names = [f"spiked-covariance n={n}" for n in ((12, 20) if size == "full" else (8, 9))]
            assert [problem, larger] == names
            records = runs.records("race", problem, "oja relative=false")
            assert [record.seed for record in records] == [*range(first, first + seeds)]
            assert records[0].trace[-1].work.samples == (40 if size == "smoke" else 300)
            assert (records[0].solver.parameters["step"] == 2.0) or size != "smoke"
            assert runs.seeds[0] == first
            assert runs.sized(1, 2, 4) == {"full": 1, "quick": 2, "smoke": 4}[size]
            assert runs.sized(1, 2) == (1 if size == "full" else 2)

    def test_exhibits_come_seed_by_seed(self, runs, monkeypatch):
        names = (*PLACE, "incremental-pca")
        assert runs.exhibits(*names) == [{}] * 6

        def shown(results, records):
            return {record.key: {"seed": record.seed} for record in reversed(records)}

        monkeypatch.setattr(Results, "exhibits", shown)
        assert [each["seed"] for each in runs.exhibits(*names)] == list(range(6))

    def test_a_solver_is_found_by_name_and_parameters_whatever_its_label(self, runs):
        for asked in ("oja relative=true", "oja step=1.0", "oja relative=True step=1"):
            assert {r.solver.label for r in runs.records(*PLACE, asked)} == {"mine"}
        longer = runs.records("race", "spiked-covariance k=2 n=20", "oja relative=false")
        assert {(r.solver.label, r.problem.label) for r in longer} == {
            ("mine, longer", "spiked n=20")
        }

    @pytest.mark.parametrize(
        ("problem", "solver", "said"),
        [
            ("spiked-covariance n=12", "mine", "no solver of the suite race is 'mine'; it has"),
            ("spiked-covariance n=12", "oja step=3", "no solver of the suite race is 'oja step=3'"),
            ("spiked", "oja", "no problem of the suite race is 'spiked'; it has spiked n=12, spik"),
            ("spiked-covariance n=13", "oja", "no problem of the suite race is 'spiked-covari"),
            ("spiked-covariance n=12", "oja", "suite race but 2: add relative or step"),
            ("spiked-covariance", "oja step=1", "suite race but 2: add n"),
        ],
    )
    def test_a_specification_applies_to_one_comparison(self, runs, problem, solver, said):
        with pytest.raises(UsageError, match=said):
            runs.records("race", problem, solver)

    def test_a_level_counts_as_a_parameter_of_its_problem(self, paper, tmp_path):
        runs = Evidence(paper, tmp_path / "results", "smoke", quiet=True)
        problem = "spiked-covariance n=8"
        levels = "levels = { suboptimality = [0.9, 0.99] }\n"
        (paper.suites / "race.toml").write_text(levels + SUITE)
        for level in (0.9, 0.99):
            (one, *_) = runs.records("race", f"{problem} suboptimality={level}", "oja step=1")
            assert one.problem.parameters["n"] == 8
        with pytest.raises(UsageError, match="but 2: add suboptimality"):
            runs.records("race", problem, "oja step=1")

    def test_an_unknown_claim_suggests_the_nearest(self, paper):
        with pytest.raises(UsageError, match="beats"):
            select(paper, ["beat"])
        assert [c.name for c in select(paper, ["typo"])] == ["typo"]

    @pytest.mark.parametrize(
        ("known", "verdict", "size", "red"),
        [
            (Verdict.HOLDS, Verdict.HOLDS, "full", False),
            (Verdict.HOLDS, Verdict.FAILS, "quick", True),
            (Verdict.HOLDS, Verdict.FAILS, "smoke", False),
            (Verdict.HOLDS, Verdict.UNDECIDED, "full", True),
            (Verdict.HOLDS, Verdict.UNDECIDED, "quick", False),
            (Verdict.HOLDS, Verdict.UNTESTABLE, "full", False),
        ],
    )
    def test_verdict_other_than_the_published_one_is_red(self, known, verdict, size, red):
        claim = Claim("c", "s", "f", counted, known=known, reason="because")
        assert Checked(claim, Measurement(verdict), size).red is red
        assert Checked(claim, Measurement(verdict), size, "an error").red


class TestClaim:
    def test_claim_that_cannot_be_published_is_refused(self):
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

    def test_page_names_its_command_code_and_claims(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        words = ["toy-2026", "--quick", "--first-seed", "7", "--publish", "-q"]
        CliRunner().invoke(main, ["reproduce", *words])
        page = (tmp_path / "reports" / "toy-2026" / "README.md").read_text()
        assert "`orthobench reproduce toy-2026 --quick --first-seed 7 --publish`" in page
        methods = ("oja", "incremental-pca", "batch-pca")
        problems = ("spiked-covariance", "digits")
        for name in (*(f"solver {n}" for n in methods), *(f"problem {n}" for n in problems)):
            assert f"\n| {name} | `" in page
        assert "solver msg" not in page
        assert "A third of all | numbers. Printed: 1/3. Here 0.333 [" in page
        assert page.count(CLAIMS[4].reason) == 1

    def test_stale_lists_pages_of_other_code(self, tmp_path, monkeypatch, paper):
        def listed():
            return CliRunner().invoke(main, ["reproduce", "--stale"]).output.splitlines()[:-1]

        monkeypatch.chdir(tmp_path)
        assert listed() == []
        CliRunner().invoke(main, ["reproduce", "toy-2026", "--quick", "--publish", "-q"])
        assert listed() == ["toy-2026  current"]
        suite = paper.suites / "race.toml"
        suite.write_text(SUITE.replace("step = 1.0", "step = 1.5"))
        assert listed() == ["toy-2026  other code now: claims and suites"]
        suite.write_text(SUITE + "# a comment\n")
        parts, oja = origin.parts, catalogue().solvers["oja"].item
        changed = {oja: {"a.py": "0"}}
        monkeypatch.setattr(origin, "parts", lambda cls: parts(cls) | changed.get(cls, {}))
        assert listed() == ["toy-2026  other code now: solver oja"]
        page = tmp_path / "reports" / "toy-2026" / "README.md"
        page.write_text(page.read_text().partition("| code |")[0])
        assert listed() == ["toy-2026  names no code"]
