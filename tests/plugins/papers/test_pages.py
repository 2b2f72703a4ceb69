"""The published pages say what the claims say, and their pictures are small enough to load."""

from pathlib import Path

import pytest

from orthobench.registry.plugins import catalogue
from orthobench.reproduce.publish import SIGNS

REPORTS = Path(__file__).parents[3] / "reports"
LARGEST = 300_000
PUBLISHED = ["msg-2013", "givens-2014", "tucker-2022"]


@pytest.fixture(params=PUBLISHED)
def paper(request):
    return catalogue().paper(request.param)


@pytest.fixture
def page(paper):
    return (REPORTS / paper.name / "README.md").read_text(encoding="utf-8")


def test_every_claim_stands_on_its_page_with_the_known_verdict(paper, page):
    rows = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(paper.claims)
    for claim, row in zip(paper.claims, rows, strict=True):
        assert claim.sentence.replace("|", "\\|") in row
        assert row.endswith(f"{SIGNS[claim.known]} |")


def test_every_picture_is_there_and_small(paper, page):
    for picture in paper.pictures:
        path = REPORTS / paper.name / f"{picture.name}.png"
        assert f"({path.name})" in page
        assert path.stat().st_size < LARGEST
