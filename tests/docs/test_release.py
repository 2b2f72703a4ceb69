"""The version, the changelog and the citation name the same release."""

import json
import re
import tomllib
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


def test_the_conda_recipe_needs_what_the_wheel_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    needed = project["dependencies"]
    wanted = {n.replace(">=", " >=").replace("matplotlib ", "matplotlib-base ") for n in needed}
    run = recipe.partition("  run:\n")[2].partition("\n\n")[0]
    assert set(re.findall(r"- (.+)", run)) == {"python >=3.11", *wanted}
    assert f'version: "{orthobench.__version__}"' in recipe


def test_the_archive_and_the_citation_name_the_same():
    archive = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'title: "{archive["title"]}"' in citation
    assert all(f"name: {creator['name']}\n" in citation for creator in archive["creators"])
    assert f"license: {archive['license']}\n" in citation


def test_the_paper_counts_the_claims_that_the_reports_count():
    paper = " ".join((ROOT / "paper" / "paper.md").read_text(encoding="utf-8").split())
    assert 1000 <= len(paper.partition("# Summary")[2].split()) <= 1500
    reports = [p.read_text(encoding="utf-8") for p in (ROOT / "reports").glob("*/README.md")]
    counts = [r"Of (\d+) claims", r"(\d+) holds?\b", r"(\d+) do(?:es)? not hold"]
    lines = [re.search(r"^Of \d+ claims.*$", report, re.MULTILINE)[0] for report in reports]
    claims, hold, fail = (sum(int(n) for x in lines for n in re.findall(c, x)) for c in counts)
    assert (
        f"checked {claims} claims of {len(reports)} papers: {hold} hold here, {fail} do not,"
        in paper
    )
    cited = set(re.findall(r"@(\w+)", paper.partition("# Summary")[2]))
    known = re.findall(r"^@\w+\{(\w+)", (ROOT / "paper/paper.bib").read_text("utf-8"), re.MULTILINE)
    assert cited == set(known)
