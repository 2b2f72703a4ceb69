"""Every paper: its suites, its sentences, and its published page."""

from pathlib import Path

import pytest
from cases import case
from orthobench_papers.reproduce.publish import SIGNS

from orthobench.harness.source_digests import reached
from orthobench.harness.suite import SIZES
from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load

REPORTS = Path(__file__).parents[3] / "reports"
LARGEST = 300_000
PAPERS = {name: provided.item for name, provided in catalogue().papers.items()}


@pytest.fixture(params=PAPERS)
def paper(request):
    return PAPERS[request.param]


@pytest.fixture
def page(paper):
    return (REPORTS / paper.name / "README.md").read_text(encoding="utf-8")


def test_no_two_claims_have_one_sentence():
    for name, paper in PAPERS.items():
        sentences = [claim.sentence for claim in paper.claims]
        assert len(sentences) == len(set(sentences)), name


def test_smaller_sizes_have_all_problems_and_solvers(paper):
    for path in sorted(paper.suites.glob("*.toml")):
        with case(path.stem):
            full, quick, smoke = (load(path, catalogue(), size=size) for size in SIZES)
            for one in (quick, smoke):
                assert len(one.problems) == len(full.problems)
                assert {s.label for s in one.solvers} == {s.label for s in full.solvers}
                assert [p.levels for p in one.problems] == [p.levels for p in full.problems]
            assert smoke.seeds == quick.seeds
            assert len(quick.seeds) <= len(full.seeds)
            assert (quick.seeds, quick.problems) != (full.seeds, full.problems)


def test_page_has_each_claim_with_its_known_verdict(paper, page):
    for verdict, sign in SIGNS.items():
        claims = [claim for claim in paper.claims if claim.known is verdict]
        table = page.partition(f"\n## {sign}: {len(claims)}\n")[2].partition("\n## ")[0]
        rows = [line for line in table.splitlines() if line.startswith("| [")]
        assert len(rows) == len(claims)
        for claim, row in zip(claims, rows, strict=True):
            sentence = claim.sentence.replace("|", "\\|")
            assert f"](#{claim.name}) | {sentence} |" in row
            argument = page.partition(f'\n<a id="{claim.name}"></a>\n')[2].partition("\n")[0]
            assert argument.startswith(f"**{sign}**: {claim.sentence}")
            assert argument.endswith(claim.reason)


def test_page_has_its_notes_and_small_pictures(paper, page):
    assert paper.notes.strip() in page
    for picture in paper.pictures:
        assert f"*{picture.caption}*" in page
        path = REPORTS / paper.name / f"{picture.name}.png"
        assert f"({path.name})" in page
        assert path.stat().st_size < LARGEST


def test_digest_of_a_paper_does_not_depend_on_other_papers():
    modules = reached("orthobench_papers.oft_2026")
    others = {name.replace("-", "_") for name in PAPERS} - {"oft_2026"}
    assert "orthobench_papers.polar_runs" in modules
    assert not {module.split(".")[1] for module in modules if module.count(".")} & others
