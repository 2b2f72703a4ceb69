"""The site of an atlas: what its pages say is what the rule says."""

import math
import re
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from orthobench.atlas.answers import VIEWS, short, views
from orthobench.atlas.features import Features
from orthobench.atlas.losses import Losses, losses
from orthobench.atlas.picture import BELOW, HEIGHT, LEFT, WIDTH, cost_lines, drawn
from orthobench.atlas.site import address, build, refuse_foreign, write_site
from orthobench.atlas.table import Atlas, read
from orthobench.errors import StoreError, UsageError
from orthobench.report.style import solver_styles


@pytest.fixture
def atlas(rows):
    made = rows(problems=3, solvers=3, seeds=8, family="stochastic PCA")
    good = [replace(r, value=1e-3) if r.solver != "solver-2" else r for r in made]
    return Atlas((*good, *(replace(r, family="<b>&") for r in good)))


def text_of(path):
    return unescape(re.sub(r"<[^>]+>", " ", path.read_text(encoding="utf-8").split("</style>")[1]))


def test_pages_say_what_the_rule_says(atlas, tmp_path):
    index = write_site(atlas, tmp_path / "site")
    found = views(read(tmp_path / "site" / "atlas.parquet").kinds["stochastic PCA"])
    assert short(found["Least time"]) in text_of(index)
    page = text_of(tmp_path / "site" / address("stochastic PCA"))
    for view, one in found.items():
        assert view in VIEWS
        assert one.sentence in page
        assert one.evidence in page
    assert (tmp_path / "site" / "family-stochastic-pca.html").is_file()


def test_each_problem_has_its_place_with_the_cheapest_and_what_the_single_best_loses(atlas):
    rows = atlas.kinds["stochastic PCA"]
    one = views(rows)["Least time"]
    picture = drawn(losses(rows), one.solver)
    places = {p["problem"]: p for _, cells in picture["rows"] for cell in cells for p in cell}
    assert {*places} == {c.problem for c in one.comparisons}
    for comparison in one.comparisons:
        place = places[comparison.problem]
        assert place["solver"] == comparison.cheapest
        assert place["lost"] == pytest.approx(comparison.of(one.solver).factor)
        assert place["ranking"].startswith(f"{comparison.cheapest} 1")


def test_a_place_is_where_its_two_largest_sizes_are(atlas):
    sizes = {0: (100, 20), 1: (5000, 20), 2: (100, 300)}
    rows = [
        replace(r, rows=sizes[int(r.name[1:])][0], d=sizes[int(r.name[1:])][1])
        for r in atlas.kinds["stochastic PCA"]
    ]
    picture = drawn(losses(rows), views(rows)["Least time"].solver)
    assert (picture["x"], picture["columns"]) == ("rows", ["100", "5,000"])
    assert (picture["y"], [height for height, _ in picture["rows"]]) == ("columns", ["300", "20"])
    (corner, empty), (low, wide) = (cells for _, cells in picture["rows"])
    assert empty == []
    assert [cell[0]["problem"] for cell in (corner, low, wide)] == [
        next(r.problem for r in rows if (r.rows, r.d) == size)
        for size in ((100, 300), (100, 20), (5000, 20))
    ]


def place(lost, second=None, more=()):
    solvers = ("single", "best", "third", *(f"s{i}" for i in range(len(more))))
    logs = np.log([[lost, 1.0, second or 9.0, *more]])
    costs = np.where(logs < math.log(1000), np.exp(logs), math.nan)
    found = Losses(solvers, solvers, ("p",), ("p",), (Features(9, 9, 2),), ("p",), logs, costs)
    return drawn(found, "single")["rows"][0][1][0][0]


def test_a_place_says_whether_another_is_close_and_who_comes_next():
    assert place(5.0, 1.09)["close"]
    assert not place(5.0, 1.11)["close"]
    assert place(5.0, 2.0)["ranking"] == "best 1, third 2, single 5"
    assert place(5.0, 2.0, (3.0, 4.0, 6.0))["ranking"] == "best 1, third 2, s0 3, s1 4, single 5"
    assert place(5.0, 2000.0)["ranking"] == "best 1, single 5"  # the third does not get there
    assert (place(5.0)["solver"], place(5.0)["name"]) == ("best", "")
    assert place(5.0)["lost"] == pytest.approx(5)


def test_addresses_are_plain_and_do_not_collide():
    assert address("Stochastic PCA") == "family-stochastic-pca.html"
    odd = [address(kind) for kind in ("a b", "a-b", "a_b", "a/b", "ä", "x" * 90, "../x", "")]
    assert len(set(odd) - {"family-a-b.html"}) == 6
    assert all(re.fullmatch(r"family-[a-z0-9-]*\.html", name) for name in odd)
    assert max(map(len, odd)) == len("family-.html") + 60 + 7


def test_other_metrics_of_a_family_and_kinds_without_an_answer_have_pages(atlas, tmp_path):
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


def test_names_are_never_markup(atlas, tmp_path):
    index = write_site(atlas, tmp_path / "site").read_text(encoding="utf-8")
    assert "<b>&" not in index
    assert "&lt;b&gt;&amp;" in index


def test_a_site_is_replaced_and_a_foreign_folder_is_not(atlas, tmp_path):
    folder = tmp_path / "site"
    write_site(atlas, folder)
    write_site(replace(atlas, rows=atlas.rows[:24]), folder)
    assert len(list(folder.glob("family-*.html"))) == 1
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        write_site(atlas, folder)
    assert (folder / "index.html").is_file()
    with pytest.raises(UsageError, match="no folder"):
        refuse_foreign(folder / "notes.txt")


def test_nothing_is_written_where_a_store_is_none(tmp_path):
    with pytest.raises(StoreError):
        build([tmp_path / "none.sqlite"], tmp_path / "site")
    assert not (tmp_path / "site").exists()


def lines(features, costs, names=("a",)):
    count = len(features)
    problems = tuple(f"p{i}" for i in range(count))
    found = Losses(
        names, names, problems, problems, tuple(features), problems,
        np.zeros((count, len(names))), np.array(costs, float).reshape(count, -1),
    )  # fmt: skip
    styles = solver_styles(names)
    return cost_lines(found, [(name, styles[name]) for name in names])


def test_marks_are_within_their_axes_and_ticks_at_powers_of_ten():
    features = [Features(rows, 10, 2) for rows in (5, 50, 500)]
    plot = lines(features, [0.02, 0.2, 3.0])
    marks = plot["leaders"][0]["marks"]
    assert marks[0][0] == LEFT
    assert marks[-1][0] == pytest.approx(WIDTH - 10)
    assert all(10 <= y <= HEIGHT - BELOW for _, y in marks)
    assert [power for _, power in plot["x"]] == [2, 3]
    assert [power for _, power in plot["y"]] == [-2, -1, 0, 1]
    assert [at for at, _ in plot["y"]] == sorted((at for at, _ in plot["y"]), reverse=True)
    assert plot["y"][0][0] == HEIGHT - BELOW
    assert plot["y"][-1][0] == 10
    flat = lines(features, [1.0, 1.0, 1.0])  # between a power of ten and itself
    assert [y for _, y in flat["leaders"][0]["marks"]] == [10, 10, 10]


def test_without_rows_the_size_is_that_of_what_is_sought():
    features = [Features(0, 10, k) for k in (1, 10, 100)]
    plot = lines(features, [1.0, 10.0, 100.0])
    assert plot["what"] == "columns x sought"
    (line,) = plot["leaders"]
    assert line["power"] == pytest.approx(1)
    left, right, *heights = line["line"]
    on_line = np.interp([x for x, _ in line["marks"]], [left, right], heights)
    np.testing.assert_allclose(on_line, [y for _, y in line["marks"]], atol=1e-9)
    mixed = [Features(0, 10, 1), Features(7, 10, 10), Features(7, 10, 100)]
    assert lines(mixed, [1.0, 10.0, 100.0])["what"] == "columns x sought"
