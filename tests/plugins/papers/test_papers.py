"""What every paper keeps to: its suites, its sentences, and its published page."""

from pathlib import Path

import pytest
from cases import case

from orthobench.registry.plugins import catalogue
from orthobench.registry.suite_file import load
from orthobench.reproduce.publish import SIGNS

REPORTS = Path(__file__).parents[3] / "reports"
LARGEST = 300_000
NAMES = (
    "msg-2013", "wen-yin-2013", "givens-2014", "landing-2022", "tucker-2022", "rsdm-2025",
    "pogo-2026", "muon-2024", "polar-express-2025", "gram-newton-schulz", "turbo-muon-2025",
    "spel-2026", "manifold-muon-2025", "oft-2026", "mspca-2026", "cca-packages",
)  # fmt: skip
PAPERS = {name: catalogue().paper(name) for name in NAMES}


@pytest.fixture(params=PAPERS)
def paper(request):
    return PAPERS[request.param]


@pytest.fixture
def page(paper):
    return (REPORTS / paper.name / "README.md").read_text(encoding="utf-8")


def test_each_suite_belongs_to_a_claim_and_each_claim_to_suites_that_exist():
    for name, paper in PAPERS.items():
        used = {suite for claim in paper.claims for suite in claim.suites}
        assert used == {path.stem for path in paper.suites.glob("*.toml")}, name


def test_no_two_claims_have_one_sentence():
    for name, paper in PAPERS.items():
        sentences = [claim.sentence for claim in paper.claims]
        assert len(sentences) == len(set(sentences)), name


def test_both_sizes_of_a_suite_have_the_same_labels(paper):
    for path in sorted(paper.suites.glob("*.toml")):
        both = path, path.parent / "quick" / path.name
        with case(path.stem):
            whole, quick = (load(one, catalogue()) for one in both)
            for kind in ("problems", "solvers"):
                labels = [
                    list(dict.fromkeys(e.label for e in getattr(s, kind))) for s in (whole, quick)
                ]
                assert labels[0] == labels[1]
            assert [p.levels for p in whole.problems] == [p.levels for p in quick.problems]
            assert len(quick.seeds) <= len(whole.seeds)
            assert (quick.seeds, quick.problems) != (whole.seeds, whole.problems)


def test_the_page_tells_of_each_claim_with_its_known_verdict(paper, page):
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(paper.claims)
    for claim, row in zip(paper.claims, rows, strict=True):
        assert claim.sentence.replace("|", "\\|") in row
        assert row.endswith(f"{SIGNS[claim.known]} |")
        (told,) = (line for line in page.splitlines() if f"**: {claim.sentence}" in line)
        assert told.endswith(claim.reason)


def test_the_page_has_its_notes_and_every_picture_small_enough_to_load(paper, page):
    assert paper.notes.strip() in page
    for picture in paper.pictures:
        assert f"*{picture.caption}*" in page
        path = REPORTS / paper.name / f"{picture.name}.png"
        assert f"({path.name})" in page
        assert path.stat().st_size < LARGEST
