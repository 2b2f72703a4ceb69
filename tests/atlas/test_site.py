"""The site of an atlas: its pages have the sentences of the rule."""

import math
import re
from dataclasses import replace
from functools import partial
from html import unescape

import numpy as np
import pytest

from orthobench.atlas.answers import VIEWS, short, views
from orthobench.atlas.chart import drawn
from orthobench.atlas.losses import Losses, losses
from orthobench.atlas.site import address, build, write_site
from orthobench.atlas.table import Atlas, read
from orthobench.errors import StoreError, UsageError
from orthobench.stats.calls import Stop


@pytest.fixture
def atlas(rows):
    made = rows(problems=3, solvers=3, seeds=8, family="stochastic PCA")
    good = [replace(r, value=1e-3) if r.solver != "solver-2" else r for r in made]
    return Atlas((*good, *(replace(r, family="<b>&") for r in good)))


def text_of(path):
    return unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8").split("</style>")[1]))


def test_pages_have_the_sentences_of_the_rule(atlas, tmp_path):
    index = write_site(atlas, tmp_path / "site")
    found = views(read(tmp_path / "site" / "atlas.parquet").kinds["stochastic PCA"])
    assert short(found["Least time"]) in text_of(index)
    page = text_of(tmp_path / "site" / address("stochastic PCA"))
    for view, one in found.items():
        assert view in VIEWS
        assert one.sentence in page
        assert one.evidence in page
    assert (tmp_path / "site" / "family-stochastic-pca.html").is_file()


def test_each_place_has_the_cheapest_solver_and_the_loss(atlas):
    rows = atlas.kinds["stochastic PCA"]
    one = views(rows)["Least time"]
    picture = drawn(losses(rows, one.comparisons), one.solver, "seconds")
    places = {place["problem"]: place for place in picture["places"]}
    assert {*places} == {c.problem for c in one.comparisons}
    for comparison in one.comparisons:
        place = places[comparison.problem]
        assert [*picture["legend"]][place["number"] - 1] == comparison.cheapest
        assert place["lost"] == pytest.approx(comparison.of(one.solver).factor)
        assert place["ranking"].startswith(f"{comparison.cheapest} 1")


def place(row, lost, second=None, more=()):
    solvers = ("single", "best", "third", *(f"s{i}" for i in range(len(more))))
    logs = np.log([[lost, 1.0, second or 9.0, *more]])
    costs = np.where(logs < math.log(1000), np.exp(logs), math.nan)
    found = Losses(
        solvers, solvers, (Stop(),) * len(solvers), (row,), ("p",), costs, np.ones(1), costs > 0
    )
    return drawn(found, "single", "seconds")["places"][0]


def test_places_have_their_ranking_and_close_solvers(rows):
    at = partial(place, rows(problems=1)[0])
    assert at(5.0, 1.09)["close"]
    assert not at(5.0, 1.11)["close"]
    assert at(5.0, 2.0)["ranking"] == "best 1, third 2, single 5"
    assert at(5.0, 2.0, (3.0, 4.0, 6.0))["ranking"] == "best 1, third 2, s0 3, s1 4, single 5"
    assert at(5.0, 2000.0)["ranking"] == "best 1, single 5"  # the third does not get there
    assert at(5.0)["lost"] == pytest.approx(5)


def test_problems_are_listed_by_name_with_their_ranking(atlas, tmp_path):
    write_site(atlas, tmp_path / "site")
    rows = read(tmp_path / "site" / "atlas.parquet").kinds["stochastic PCA"]
    one = views(rows)["Least time"]
    page = text_of(tmp_path / "site" / address("stochastic PCA"))
    for place in drawn(losses(rows, one.comparisons), one.solver, "seconds")["places"]:
        assert re.search(rf"{place['problem']}\s+{place['ranking']}", page)


def test_addresses_are_plain_and_do_not_collide():
    assert address("Stochastic PCA") == "family-stochastic-pca.html"
    odd = [address(kind) for kind in ("a b", "a-b", "a_b", "a/b", "ä", "x" * 90, "../x", "")]
    assert len(set(odd) - {"family-a-b.html"}) == 6
    assert all(re.fullmatch(r"family-[a-z0-9-]*\.html", name) for name in odd)
    assert max(map(len, odd)) == len("family-.html") + 60 + 7


def test_other_metrics_and_kinds_without_answer_have_pages(atlas, tmp_path):
    rows = atlas.kinds["stochastic PCA"]
    other = [replace(r, metric="sub_error") for r in rows if r.name == "p0"]
    lost = [
        replace(r, family="nobody", value=math.inf, failed=r.seed > 0) for r in rows if r.seed < 2
    ]
    index = write_site(replace(atlas, rows=(*rows, *other, *lost)), tmp_path / "site").read_text()
    for kind, linked in (
        ("stochastic PCA", True), ("stochastic PCA by sub error", True), ("nobody", False)
    ):  # fmt: skip
        assert (f'href="{address(kind)}"' in index) is linked, kind
        assert (tmp_path / "site" / address(kind)).is_file()


def test_new_site_removes_old_families_and_keeps_other_files(atlas, tmp_path):
    folder = tmp_path / "site"
    write_site(atlas, folder)
    (folder / "notes.txt").write_text("mine")
    write_site(replace(atlas, rows=atlas.rows[:24]), folder)
    assert len(list(folder.glob("family-*.html"))) == 1
    assert (folder / "notes.txt").read_text() == "mine"


def test_pages_of_another_site_are_not_replaced(atlas, tmp_path):
    for name in ("index.html", "family-album.html"):
        page = tmp_path / name
        page.write_text("mine")
        for make in (partial(write_site, atlas), partial(build, [tmp_path / "none.sqlite"])):
            with pytest.raises(UsageError, match=f"a page that is not of an atlas, {name!r}"):
                make(tmp_path)
        assert page.read_text() == "mine"
        page.unlink()


def test_names_are_never_markup(atlas, tmp_path):
    index = write_site(atlas, tmp_path / "site").read_text(encoding="utf-8")
    assert "<b>&" not in index
    assert "&lt;b&gt;&amp;" in index


def test_site_of_a_missing_store_is_not_written(tmp_path):
    with pytest.raises(StoreError):
        build([tmp_path / "none.sqlite"], tmp_path / "site")
    assert not (tmp_path / "site").exists()
