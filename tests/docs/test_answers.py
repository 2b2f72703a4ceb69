"""The answers at the top of README are those of the atlas that comes with the package."""

import importlib.util
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from orthobench.atlas.answers import answers
from orthobench.atlas.consult import SHIPPED
from orthobench.atlas.site import write_site
from orthobench.atlas.table import Atlas, AtlasRow, read, rounded
from orthobench.atlas.wording import NOBODY, facts, overview

ROOT = Path(__file__).parents[2]
SITE = ROOT / "reports" / "atlas"
README = (ROOT / "README.md").read_text(encoding="utf-8")

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("answers", ROOT / "docs" / "answers.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def atlas():
    """Return an atlas of nine families, in which ``oja`` ends lowest and ``msg`` is faster."""
    row = AtlasRow(
        suite="s", family="", problem="p", name="p", d=9, k=2, solver="", seed=0, metric="gap",
        start=1.0, lowest=0.1, samples=9.0, flops=9.0, ending="budget",
    )  # fmt: skip
    rows = [
        replace(row, family=f"family {i}", solver=solver, seed=seed, value=value, seconds=seconds,
                seconds_to=(seconds,) * 5, samples_to=(9.0,) * 5, flops_to=(9.0,) * 5)
        for i in range(9)
        for solver, value, seconds in (("oja", 0.1, 0.5), ("msg step=2", 0.15, 0.25))
        for seed in range(8)
    ]  # fmt: skip
    return Atlas(tuple(rows), {"date": "2026-01-02", "machines": ["A CPU"]})


def test_the_table_has_a_row_for_each_family_and_its_origin(script, atlas):
    written = script.with_answers(README, atlas)
    table = written.split(script.BEGIN)[1].split(script.END)[0]
    head, _, *rows, blank, origin = table.splitlines()
    assert head.split(" | ")[1:3] == ["Lowest value", "Fewest samples"]
    assert len(rows) == 9
    assert rows[0].startswith("| family 0 | [oja](docs/methods/oja.md) (1 of 1) |")
    assert "[msg step=2](docs/methods/msg.md) (1 of 1)" in rows[0]
    assert blank == ""
    assert origin.startswith("From the atlas of 2026-01-02: 144 runs, timed on A CPU.")


def test_readme_stays_short_with_it_and_is_written_once(script, atlas):
    written = script.with_answers(README, atlas)
    assert len(written.splitlines()) <= 150
    assert script.with_answers(written, atlas) == written
    assert written.replace(written.split(script.BEGIN)[1].split(script.END)[0], "") == (
        README.replace(README.split(script.BEGIN)[1].split(script.END)[0], "")
    )


def test_problems_with_another_metric_have_a_row_that_names_them(script, atlas):
    own = tuple(row for row in atlas.rows if row.family == "family 0")
    lag = tuple(replace(row, suite="t", name="late", metric="lag") for row in own)
    more = tuple(replace(row, suite="u") for row in own)
    written = script.with_answers(README, replace(atlas, rows=own + lag + more))
    _, _, first, second, *_ = written.split(script.BEGIN)[1].splitlines()
    assert first.startswith("| family 0 | [oja](docs/methods/oja.md) (2 of 2) |")
    assert second.startswith("| family 0 by lag (late) | [oja](docs/methods/oja.md) (1 of 1) |")


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
def test_the_answers_are_those_of_the_atlas_that_comes_with_the_package(script):
    assert script.with_answers(README, read(SHIPPED)) == README, "run: python docs/answers.py"
    links = re.findall(r"\]\((docs/methods/[^)]+)\)", README)
    assert links
    assert all((ROOT / link).exists() for link in links)


def cells(lines):
    """Return the texts of a table's cells by their row, those of rows with some only."""
    table = {name: own for name, *own in lines}
    return {name: own for name, own in table.items() if set(own) != {NOBODY}}


def of_page(page):
    """Return the cells of the table at the top of a site."""
    short = page.split('<section id="short"')[1].split("<tbody>")[1].split("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", short, re.DOTALL)
    texts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in rows]
    return cells([unescape(re.sub(r"<[^>]+>", "", text)) for text in row] for row in texts)


def of_readme(text):
    """Return the cells of the table between the marks of README."""
    lines = text.split("<!-- answers")[1].split("<!-- end")[0].splitlines()[3:]
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return cells([re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text) for text in row] for row in rows)


def test_readme_site_and_advise_name_the_same_with_the_same_counts(script, atlas, tmp_path):
    page = write_site(atlas, tmp_path / "site").read_text(encoding="utf-8")
    found = of_readme(script.with_answers(README, rounded(atlas)))
    assert found == of_page(page)
    said = dict(line.split(": ", 1) for line in overview(rounded(atlas)) if ": " in line)
    for name, own in found.items():
        assert [text.split(": ")[1] for text in said[name].split("; ")] == own


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
def test_the_site_in_the_repository_is_that_of_the_atlas_that_comes_with_the_package():
    assert (SITE / "atlas.parquet").read_bytes() == SHIPPED.read_bytes()
    assert of_page((SITE / "index.html").read_text(encoding="utf-8")) == of_readme(README)


@pytest.mark.slow
@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
def test_the_site_in_the_repository_says_what_advise_says():
    page = (SITE / "index.html").read_text(encoding="utf-8")
    text = unescape(re.sub(r"<[^>]+>", "", page))
    for one in facts(answers(read(SHIPPED))):
        assert f"{one['answer']}\n{one['sure']}" in text
        assert all(loss in text for loss in one["losses"])


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
def test_the_atlas_that_comes_with_the_package_is_small():
    assert SHIPPED.stat().st_size <= 2 * 2**20
