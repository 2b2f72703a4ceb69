"""The answers on the page of the methods are those of the atlas that comes with the package."""

import importlib.util
import math
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from curves import costs, svg
from facts import families, solvers_of
from venues import DOIS, url

import orthobench as ob
from orthobench.atlas.answers import SHIPPED, views
from orthobench.atlas.site import address
from orthobench.atlas.table import Atlas, AtlasRow, read

ROOT = Path(__file__).parents[2]
SITE = ROOT / "reports" / "atlas"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("write", ROOT / "docs" / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def atlas():
    """Return an atlas of nine families, in which ``oja`` ends lowest and ``msg`` is faster."""
    row = AtlasRow(
        suite="s", family="", problem="p", name="p", d=9, k=2, solver="", solver_name="", seed=0,
        metric="gap", start=1.0, lowest=0.1, samples=9.0, flops=9.0, ending="done",
    )  # fmt: skip
    rows = [
        replace(row, family=f"family {i}", solver=solver, solver_name=solver.split()[0], seed=seed,
                value=value, seconds=seconds)
        for i in range(9)
        for solver, value, seconds in (("oja", 0.1, 0.5), ("msg step=2", 0.1, 0.75))
        for seed in range(8)
    ]  # fmt: skip
    return Atlas(tuple(rows), {"date": "2026-01-02", "machines": ["A CPU"]})


def test_the_table_has_a_row_for_each_family_and_its_origin(script, atlas):
    head, _, *rows, blank, origin = script.answers_of(atlas).splitlines()
    assert head.split(" | ")[1:3] == ["Least time", "Fewest samples"]
    assert len(rows) == 9
    assert rows[0].startswith("| family 0 | [oja](oja.md) (1 of 1 tested, 1) |")
    assert blank == ""
    assert origin.startswith("From the atlas of 2026-01-02: 144 runs, timed on A CPU.")


def test_a_family_in_which_nobody_can_be_named_has_no_row(script, atlas):
    own = [replace(r, family="B") for r in atlas.rows if r.family == "family 0"]
    failed = [replace(r, value=math.inf, failed=True) if r.seed else r for r in own]
    lines = script.answers_of(Atlas((*atlas.rows, *failed), atlas.about)).splitlines()
    assert not any(line.startswith("| B ") for line in lines)


def test_picture_of_a_method_has_no_dot_below_the_cheapest():
    points = costs()["ccipca"]
    assert all(one.own >= one.least * (1 - 1e-6) for one in points)
    assert any(one.own < 1.001 * one.least for one in points)
    picture = ET.fromstring(svg("ccipca"))  # noqa: S314 - our own text
    assert sum(1 for _ in picture.iter("{http://www.w3.org/2000/svg}title")) == len(points)


@pytest.mark.wide
def test_all_pages_are_written_from_the_code_that_is_here(script, capsys):
    assert script.main(["--check"]) == 0, capsys.readouterr().err


def test_a_part_of_a_page_is_written_between_its_marks(script):
    page = "a\n<!-- write: record msg -->\nold\n<!-- end -->\nb\n"
    new = script.written(page)
    assert new.startswith(
        "a\n<!-- write: record msg -->\nAs good as the best (cheapest) in [the atlas]("
    )
    assert new.endswith("\n<!-- end -->\nb\n")
    assert script.written(new) == new


SHAPES = {
    "X": np.random.default_rng(0).standard_normal((60, 12)),
    "Y": np.random.default_rng(1).standard_normal((60, 5)),
    "A": np.cov(np.random.default_rng(2).standard_normal((60, 8)).T),
    "B": np.eye(8),
    "T": np.einsum("ka,kb,kc->abc", *[np.linalg.qr(np.eye(4) + 0.1)[0]] * 3),
    "gradients": np.random.default_rng(3).standard_normal((5, 6, 4)),
    "cost": lambda X: float(np.sum(X**4)),
    "gradient": lambda X: 4 * X**3,
}


def test_the_makers_on_pages_make_problems_of_their_family(script):
    assert set(script.MAKERS) == set(families())
    for family, code in script.MAKERS.items():
        problem = eval(code.partition("  #")[0], {"ob": ob, **SHAPES})  # noqa: S307 - of the page
        needs = [cls.needs for cls in solvers_of(family).values()]
        assert np.mean([isinstance(problem.oracle, own) for own in needs]) >= 0.5, family


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
@pytest.mark.wide
def test_the_site_in_the_repository_is_that_of_the_package():
    assert (SITE / "atlas.parquet").read_bytes() == SHIPPED.read_bytes()
    for kind, rows in read(SHIPPED).kinds.items():
        page = unescape((SITE / address(kind)).read_text(encoding="utf-8"))
        assert all(one.sentence in page for one in views(rows).values() if one.use)


@pytest.mark.skipif(not SHIPPED.exists(), reason="no atlas comes with the package yet")
def test_the_atlas_that_comes_with_the_package_is_small():
    assert SHIPPED.stat().st_size <= 2 * 2**20


def test_table_of_papers_has_a_cell_for_each_column(script):
    rows = script.papers("").splitlines()
    assert len({len(re.split(r"(?<!\\)\|", row)) for row in rows}) == 1
    assert all("](https://" in row for row in rows[2:] if "R package" not in row)


def test_every_doi_is_on_the_page_of_a_method():
    pages = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs/methods").glob("*.md"))
    assert [words for words, address in DOIS.items() if url(address) not in pages] == []
