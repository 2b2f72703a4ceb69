"""The files of a site: links lead somewhere, names are data, and it is all there or not at all."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

from orthobench.atlas.site import write_site
from orthobench.atlas.site.names import slug
from orthobench.atlas.site.write import MANIFEST
from orthobench.atlas.table import Atlas, read
from orthobench.errors import UsageError


class Page(HTMLParser):
    """The links and anchors of a page, and the elements that run something."""

    def __init__(self, text):
        super().__init__()
        self.links, self.ids, self.scripts, self.tags = [], [], 0, set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.tags.add(tag)
        self.links += [values[name] for name in ("href", "src") if name in values]
        self.ids += [values["id"]] if "id" in values else []
        self.scripts += tag == "script"
        assert not any(name.startswith("on") for name in values)


@pytest.fixture(scope="module")
def pages(site):
    return {path.name: Page(path.read_text()) for path in site.glob("*.html")}


def test_every_link_leads_to_a_page_or_an_anchor(pages, site):
    for name, page in pages.items():
        for link in page.links:
            file, _, anchor = unquote(link).partition("#")
            assert (site / (file or name)).is_file(), (name, link)
            if anchor:
                assert anchor in pages[file or name].ids, (name, link)


def test_there_is_a_page_for_each_family_solver_and_problem(pages, atlas):
    kinds = [name.partition("-")[0] for name in pages]
    assert kinds.count("family") == len({row.family for row in atlas.rows})
    assert kinds.count("solver") == len({row.solver for row in atlas.rows})
    assert kinds.count("problem") == len({row.contest for row in atlas.rows})
    linked = {link.partition("#")[0] for page in pages.values() for link in page.links}
    assert set(pages) <= linked


def test_anchors_of_a_page_differ(pages):
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name


def test_strangers_names_are_text(pages):
    for page in pages.values():
        assert "img" not in page.tags
        assert page.scripts <= 2


def test_the_index_has_each_answer_with_its_losses(site):
    text = re.sub(r"<[^>]+>|\s+", " ", (site / "index.html").read_text())
    assert "solver-0" in text
    assert "In the end: the lowest gap within the budget" in text
    assert "Few samples: the fewest until 1 % of the gap is left" in text


def test_situations_without_a_result_are_named(rows, tmp_path):
    noisy = [replace(row, noise=0.9) for row in rows(problems=1, family="B")]
    folder = write_site(Atlas((*rows(problems=1), *noisy)), tmp_path / "site").parent
    said = "No result of this family is about: noisy."
    assert (folder / "index.html").read_text().count(said) == 1
    assert said in (folder / "family-pca.html").read_text()
    assert said not in (folder / "family-b.html").read_text()


def test_a_problem_says_how_to_run_it_again(rows, tmp_path):
    own = [replace(row, problem=f"{row.problem}, density <= 0.1") for row in rows(problems=1)]
    folder = write_site(Atlas(tuple(own)), tmp_path / "site").parent
    (page,) = folder.glob("problem-*.html")
    assert "orthobench run atlas-PCA --only &#39;p0 k=2 *&#39;" in page.read_text()


def test_the_table_is_there_and_is_read_again(site, atlas):
    found = read(site / "atlas.parquet")
    assert len(found.rows) == len(atlas.rows)


def test_equal_atlases_give_equal_files(atlas, site, tmp_path):
    write_site(atlas, tmp_path / "again")
    for path in site.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_site_is_replaced_and_nothing_of_it_stays(rows, tmp_path):
    folder = tmp_path / "site"
    write_site(Atlas(tuple(rows())), folder)
    write_site(Atlas(tuple(rows(family="B"))), folder)
    assert (folder / "family-b.html").is_file()
    assert not (folder / "family-pca.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize("name", ["notes.txt", "family-pca.html", "a/b.html"])
def test_a_folder_with_other_files_is_refused(rows, tmp_path, name):
    foreign = tmp_path / "site" / name
    foreign.parent.mkdir(parents=True)
    foreign.write_text("mine")
    with pytest.raises(UsageError, match="has files that are not of an atlas"):
        write_site(Atlas(tuple(rows())), tmp_path / "site")
    assert foreign.read_text() == "mine"


def test_a_file_added_to_a_site_is_kept(rows, tmp_path):
    folder = tmp_path / "site"
    write_site(Atlas(tuple(rows())), folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        write_site(Atlas(tuple(rows())), folder)


def test_a_link_is_not_written_through(rows, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "site").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="link"):
        write_site(Atlas(tuple(rows())), tmp_path / "site")


def test_an_error_leaves_the_site_before(rows, tmp_path):
    folder = tmp_path / "site"
    write_site(Atlas(tuple(rows())), folder)
    before = (folder / "index.html").read_bytes()
    twins = [replace(row, solver=row.solver.upper()) for row in rows()]
    with pytest.raises(UsageError, match="two names give one page"):
        write_site(Atlas((*rows(), *twins)), folder)
    assert (folder / "index.html").read_bytes() == before
    assert (folder / MANIFEST).is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stochastic PCA", "stochastic-pca"),
        ("oja", "oja"),
        ("order 4, noise 0.1", None),
        ("../x", None),
    ],
)
def test_addresses_are_plain(name, expected):
    assert re.fullmatch(r"[a-z0-9-]+", slug(name))
    assert expected in (None, slug(name))
    assert slug(name) != slug(f"{name}!")


@pytest.mark.slow
def test_50000_runs_take_15_megabytes_at_most(rows, tmp_path):
    families = [rows(24, solvers=30, seeds=10, family=f"family {i}") for i in range(7)]
    write_site(Atlas(tuple(row for own in families for row in own)), tmp_path / "site")
    sizes = [path.stat().st_size for path in (tmp_path / "site").iterdir()]
    assert sum(sizes) <= 15_000_000
