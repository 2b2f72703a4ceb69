"""The page of a history, alone and in a browser."""

import re

import pytest

from orthobench.history import curves as module
from orthobench.history.curves import curves
from orthobench.report.page.history import write_history

EVIL = "</script><script>alert(1)</script>"


@pytest.fixture
def page(repository, fake, tmp_path):
    """Write the page of four commits, of which one does not build and one has an evil subject."""
    repository.commit("begin")
    repository.commit("bad", broken="no compiler")
    worse = repository.commit(EVIL, final=0.2)
    repository.commit("words", final=0.2)
    history = fake("HEAD~3..HEAD")
    facts = module.facts(history, *curves(history, []), ["HEAD~3..HEAD"])
    path = write_history(facts, tmp_path)
    return path, worse


def test_steps_and_commits_without_results_are_named(page):
    path, worse = page
    text = path.read_text(encoding="utf-8")
    assert f"<code>{worse[:10]}</code>" in text
    assert "+100.0 %" in text
    assert "cannot build it; it said: no compiler" in text


def test_the_page_is_alone_and_runs_no_code_of_a_commit(page):
    text = page[0].read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert EVIL not in text


@pytest.mark.wide
def test_the_curves_are_drawn_with_their_steps(page, chromium):
    path, _ = page
    view = chromium.new_page(viewport={"width": 390, "height": 900})
    problems = []
    view.on("pageerror", lambda error: problems.append(str(error)))
    view.goto(path.as_uri())
    view.locator("figure").scroll_into_view_if_needed()
    view.wait_for_selector("figure .chart .series .marker")
    assert view.locator("figure .chart line.rule").count() == 1
    assert view.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not problems
    view.close()
