"""The page of a run under way in a browser: it follows the run, and runs nobody else's script."""

from types import SimpleNamespace

import pytest

from orthobench.report.live import watch
from orthobench.report.live.server import Served, serving

STATUS = {
    "suite": "toys", "state": "running", "finished": 1, "planned": 4, "failed": 0, "left": "",
    "failures": [], "page": 1,
}  # fmt: skip
EVIL = "<img src=x onerror=window.hacked=1>"


@pytest.fixture
def shown(chromium):
    """The page around a page, in the browser: ``tell(**facts)`` changes the status."""
    served = Served()
    served.show("/", *watch._frame(EVIL))
    served.show("/page", "<title>p</title><h1>first</h1>", watch.INSIDE)
    served.tell("/status", STATUS)
    context = chromium.new_context()
    with serving(served, 0) as address:
        page = context.new_page()
        page.set_default_timeout(120_000)  # the machine may be busy
        troubles = []
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda message: troubles.append(message.text))
        page.goto(address)
        yield SimpleNamespace(
            page=page, served=served, troubles=troubles,
            tell=lambda **facts: served.tell("/status", {**STATUS, **facts}),
        )  # fmt: skip
        context.close()


def test_it_follows_the_run(shown):
    page, inside = shown.page, shown.page.frame_locator("#page")
    page.get_by_text("toys: 1 of 4 runs").wait_for()
    inside.get_by_text("first").wait_for()
    assert not page.locator("#failed").is_visible()
    shown.served.show("/page", "<h1>second</h1>", watch.INSIDE)
    shown.tell(finished=3, failed=1, left="2 min 3 s", page=2, failures=[f"oja: {EVIL}"])
    page.get_by_text("toys: 3 of 4 runs, about 2 min 3 s left").wait_for()
    inside.get_by_text("second").wait_for()
    assert page.title().startswith("3/4")
    assert page.locator("#bar").evaluate("bar => bar.value / bar.max") == 0.75
    page.get_by_text("1 failed").click()
    page.get_by_text(f"oja: {EVIL}").wait_for()
    shown.tell(finished=4, state="ended", page=2)
    page.get_by_text("4 of 4 runs; the run has ended").wait_for()
    assert page.evaluate("window.hacked") is None
    assert not shown.troubles


@pytest.mark.wide
def test_it_says_when_nobody_watches_any_more(shown):
    shown.page.get_by_text("toys: 1 of 4 runs").wait_for()
    shown.served.answers = {}
    shown.page.get_by_text("this is the last page").wait_for()


@pytest.mark.wide
def test_no_other_site_can_show_it_or_read_it(shown, chromium):
    address = shown.page.url
    other = chromium.new_context().new_page()
    other.set_default_timeout(120_000)
    other.set_content(f"<iframe src={address}></iframe><script src={address}status></script>")
    assert other.frames[1].locator("#status").count() == 0
    read = "url => fetch(url).then(reply => reply.text(), () => 'refused')"
    assert other.evaluate(read, f"{address}status") == "refused"
    other.context.close()
