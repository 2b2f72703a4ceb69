"""The site in a real browser without a network, on a desk and on a phone."""

import pytest
from browser import PATIENCE


@pytest.fixture(params=[1440, 390])
def page(chromium, request):
    context = chromium.new_context(
        viewport={"width": request.param, "height": 900}, offline=True, color_scheme="dark"
    )
    opened, troubles = context.new_page(), []
    opened.set_default_timeout(PATIENCE)
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on("console", lambda message: troubles.append(message.text))
    yield opened
    assert troubles == []
    assert opened.evaluate("window.hacked") is None
    context.close()


@pytest.mark.slow
def test_no_page_runs_what_names_say_or_scrolls_sideways(page, site):
    for path in sorted(site.glob("*.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path.name
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"


def test_a_search_leads_to_a_page_whose_plots_are_drawn(page, site):
    page.goto((site / "index.html").as_uri())
    page.fill("#find", "pca family")
    page.click("#found a >> nth=0")
    assert page.url.endswith("/family-pca.html")
    page.locator("figure[data-kind=pareto]").scroll_into_view_if_needed()
    page.locator("figure[data-kind=pareto] svg.chart").wait_for(state="attached")


def test_what_is_not_there_is_not_found(page, site):
    page.goto((site / "index.html").as_uri())
    page.fill("#find", "nothing-like-this")
    assert page.inner_text("#found") == "Nothing has these words."
