"""The version, the changelog and the citation name the same release."""

import re
from pathlib import Path

import orthobench

ROOT = Path(__file__).parents[2]


def test_version_changelog_and_citation_agree():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first, *releases = re.findall(r"^## (.+)$", changelog, re.MULTILINE)
    assert first == "Unreleased"
    version, date = releases[0].split(" - ")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert version == orthobench.__version__
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2}", heading) for heading in releases)
