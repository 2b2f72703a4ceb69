"""Pages for everybody: axe-core finds nothing, at both widths and in both colours."""

from importlib.resources import files
from pathlib import Path

import pytest

SITE = Path(__file__).parents[3] / "reports" / "atlas"

UNFOLD = """() => {
    document.querySelectorAll('details').forEach(one => { one.open = true });
    dispatchEvent(new Event('beforeprint'));
}"""
"""Opens all parts, and draws all plots as for a printer."""

VIOLATIONS = """async () => Object.fromEntries((await axe.run(document)).violations.map(
    found => [found.id, found.nodes.map(node => node.failureSummary + ' ' + node.html)]))"""

REPEATED = """() => {
    const ids = [...document.querySelectorAll('[id]')].map(one => one.id);
    return ids.filter((id, place) => ids.indexOf(id) !== place);
}"""

pytestmark = pytest.mark.wide


@pytest.fixture(scope="module")
def axe():
    """The rules of axe-core, as a script."""
    package = "axe_playwright_python"
    pytest.importorskip(package, reason="axe-playwright-python, which has axe-core, is absent")
    return files(package).joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", ["report", "index.html", "family-pca.html"])
def test_unfolded_page_violates_no_rule_of_axe(opened, every_page, axe, name, width, scheme):
    path = every_page if name == "report" else SITE / name
    watched = opened(path, width, color_scheme=scheme, bypass_csp=True)
    if name == "report":
        watched.first_plot()
    page = watched.page
    page.evaluate(UNFOLD)
    page.evaluate(axe)
    assert page.evaluate(VIOLATIONS) == {}
    assert page.evaluate(REPEATED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
