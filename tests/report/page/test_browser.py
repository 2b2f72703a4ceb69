"""The page in a browser, opened from disk: what readers do with it, and what it must not do."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from records import altered

from orthobench.report.page import write_page
from orthobench.report.page.content import page_content
from orthobench.report.plots.problems import problem_plots
from orthobench.tools.formatting import clean

HOSTILE = (
    '<img src=x onerror="window.hacked=1"> </script><script>window.hacked=1</script> %{x} <b>b</b>'
)

DRAWN = """figure => [...figure.querySelectorAll('.series')].map(
    one => [...one.querySelectorAll('.line')].map(path => path.getAttribute('d')))"""

POINTS = """figure => [...figure.querySelectorAll('.series .line:not(.floored)')].map(path =>
    [...path.getAttribute('d').matchAll(/[ML]([-e\\d.]+),([-e\\d.]+)/g)].map(
        m => [+m[1], +m[2]]))"""

TICKS = """figure => [...figure.querySelectorAll(".x-ticks text, .y-ticks text")].map(
    one => one.textContent)"""

FAMILIES = """() => [...document.querySelectorAll('article.family')].map(article => {
    const [shown, ...more] = [...article.querySelectorAll('[data-key]')].filter(one => !one.hidden);
    return [more.length, shown.dataset.key, shown.querySelector('.decision').textContent];
})"""

pytestmark = pytest.mark.wide


@pytest.fixture(scope="module")
def shown(opened, every_page):
    """The page of real runs, with its first plot drawn; each test leaves it as it was."""
    watched = opened(every_page)
    watched.figure = watched.first_plot()
    return watched


@pytest.fixture(autouse=True)
def quiet(request):
    """Nothing on the console, no error, and no request but for the file, whatever is done."""
    yield
    if "shown" in request.fixturenames:
        shown = request.getfixturevalue("shown")
        assert shown.troubles == []
        assert shown.page.evaluate("window.hacked") is None


def panel_of(results, *options):
    """Return the panel that the first plot of the page shows."""
    problem = results.entries[0].problem
    group = [entry for entry in results.entries if entry.problem == problem]
    return problem_plots(group)[0].panel(*options)


def select(figure, number, label=None):
    """Choose an option in the menu of a plot; the first one by default."""
    figure.locator(".menu").evaluate("menu => { menu.open = true }")
    chosen = {"label": label} if label else {"index": 0}
    figure.locator("select").nth(number).select_option(**chosen)


def test_menu_option_selected_changes_drawing_and_summary(shown):
    before = shown.figure.evaluate(DRAWN)
    for place, label in ((0, "seconds"), (1, "subspace error")):
        select(shown.figure, place, label)
        after = shown.figure.evaluate(DRAWN)
        assert after != before
        before = after
    assert shown.figure.locator(".y-title").text_content() == "subspace error"
    assert shown.figure.locator(".menu summary").text_content() == "seconds, subspace error ⋯"
    summary = shown.figure.locator(".chart").get_attribute("aria-label")
    assert "subspace error against log time" in summary
    for place in (0, 1):
        select(shown.figure, place)


def test_a_plot_with_one_panel_has_no_menu(opened, every_page):
    page = opened(every_page).page
    page.locator("#problems details.part").first.evaluate("one => { one.open = true }")
    figure = page.locator("figure[data-kind=tuning]").first
    figure.scroll_into_view_if_needed()
    figure.locator(".chart").wait_for(state="attached")
    assert not figure.locator(".menu").is_visible()


def test_drawn_places_are_affine_in_logarithms_of_values(shown, every):
    panel = panel_of(every)
    by_name = """f => Object.fromEntries([...f.querySelectorAll('.series')].map(one => [
        f.querySelector(`.label[data-place="${one.dataset.place}"]`).textContent,
        [...one.querySelector('.line').getAttribute('d').matchAll(
            /[ML]([-e\\d.]+),([-e\\d.]+)/g)].map(m => [+m[1], +m[2]])]))"""
    lines = shown.figure.evaluate(by_name)
    places, numbers = [], []
    for series in panel.series:
        finite = np.isfinite(series.y) & (series.y > 1e-16)
        if not finite.any():
            continue
        line = lines[clean(series.label)]
        assert len(line) == finite.sum()
        places += line
        numbers += np.log10(np.stack([series.x, series.y], axis=1)[finite]).tolist()
    for x, at in zip(np.transpose(numbers), np.transpose(places), strict=True):
        slope, offset = np.polyfit(x, at, 1)
        assert np.abs(slope * x + offset - at).max() < 0.01


def test_values_below_zero_get_a_linear_axis(opened, runs, made, tmp_path):
    records = [*runs("a", -1.0), *runs("b", -3.0)]
    watched = opened(write_page(made(records), tmp_path))
    figure = watched.first_plot()
    assert "linear gap" in figure.locator(".chart").get_attribute("aria-label")
    assert any(text.startswith("-") for text in figure.evaluate(TICKS))
    select(figure, 1, "rank")
    assert "log rank" in figure.locator(".chart").get_attribute("aria-label")
    assert watched.troubles == []


def test_cell_pressed_shows_the_runs_that_decide_it(shown, every):
    link = shown.page.locator(".matrix tbody tr", has_text="batch-pca").first.locator("td a").first
    problem = shown.page.locator(link.get_attribute("href"))
    problem.evaluate("details => { details.open = false }")
    link.click()
    assert problem.evaluate("details => details.open")
    figure = problem.locator("figure").first
    figure.locator(".runs tbody tr").first.wait_for()
    name = every.entries[0].problem
    (entry,) = [e for e in every.entries if (e.problem, e.solver) == (name, "batch-pca")]
    rows = [row.split("\t") for row in figure.locator(".runs tbody tr").all_inner_texts()]
    assert [row[0] for row in rows] == ["0", "1", "2"]
    others = [e for e in every.entries if e.problem == name and e.takes_part]
    metric = entry.problem_info.primary
    for row, run in zip(rows, entry.records, strict=True):
        same = [r for e in others for r in e.records if r.seed == run.seed and r.ok]
        values = [[mark.metrics[metric] for mark in r.trace] for r in same]
        low, start = min(own[-1] for own in values), max(own[0] for own in values)
        above = 100 * (run.trace[-1].metrics[metric] - low) / (start - low)
        assert float(row[1]) == pytest.approx(above, rel=6e-3, abs=1e-12)
    assert "front=batch-pca" in shown.page.evaluate("location.hash")
    figure.get_by_role("button", name="close").click()
    assert figure.locator(".runs").inner_text() == ""


def test_link_copied_shows_the_same_again(shown, opened, every_page):
    select(shown.figure, 0, "flops")
    shown.figure.locator(".label", has_text="batch-pca").click()
    link = shown.page.evaluate("location.hash")
    again = opened(every_page, fragment=link)
    figure = again.first_plot()
    assert figure.locator(".chart").get_attribute("aria-label") == (
        shown.figure.locator(".chart").get_attribute("aria-label")
    )
    assert sorted(figure.evaluate(DRAWN)) == sorted(shown.figure.evaluate(DRAWN))
    assert figure.locator(".label[aria-pressed=true]").text_content() == "batch-pca"
    assert again.page.evaluate("location.hash") == link
    assert again.troubles == []
    shown.page.keyboard.press("Escape")
    assert shown.figure.locator(".label[aria-pressed=true]").count() == 0
    select(shown.figure, 0)
    assert "?" not in shown.page.evaluate("location.hash")


def test_keyboard_alone_reaches_menu_and_lines(shown):
    page, keys = shown.page, shown.page.keyboard
    menu = shown.figure.locator(".menu")
    menu.evaluate("menu => { menu.open = false }")
    menu.locator("summary").focus()
    keys.press("Enter")
    keys.press("Tab")
    first = shown.figure.locator("select").first
    assert first.evaluate("one => one === document.activeElement")
    keys.press("ArrowDown")
    assert first.input_value() == "1"
    keys.press("ArrowUp")
    label = shown.figure.locator(".label", has_text="batch-pca")
    label.focus()
    assert label.evaluate("one => one.matches('.front')")
    keys.press("Enter")
    assert shown.figure.locator(".label[aria-pressed=true]").text_content() == "batch-pca"
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"
    keys.press("Escape")
    assert shown.figure.locator(".label[aria-pressed=true]").count() == 0


def test_line_under_the_pointer_is_in_front_with_its_values(shown):
    shown.figure.scroll_into_view_if_needed()
    shown.page.evaluate("document.activeElement.blur()")
    box = shown.figure.locator(".axes").bounding_box()
    x, y = max(shown.figure.evaluate(POINTS), key=len)[5]
    shown.page.mouse.move(
        box["x"] + x / 100 * box["width"] + 2, box["y"] + y / 100 * box["height"] + 2
    )
    tip = shown.page.locator("#tip")
    tip.wait_for(state="visible")
    assert "suboptimality" in tip.text_content()
    assert "min to max" in tip.text_content()
    seen = """f => [...f.querySelectorAll('.series')].map(one => [one.matches('.front'),
        getComputedStyle(one.querySelector('.band') ?? one).display !== 'none',
        getComputedStyle(one.querySelector('.line')).stroke])"""
    front, *others = sorted(shown.figure.evaluate(seen), reverse=True)
    assert front[0]
    assert front[1]
    assert len({stroke for _, _, stroke in others}) == 1
    assert front[2] != others[0][2]
    assert not any(is_front or banded for is_front, banded, _ in others)
    shown.page.mouse.move(2, 2)
    tip.wait_for(state="hidden")
    assert shown.figure.locator(".front").count() == 0


def test_names_have_the_order_of_the_ends_of_their_lines(shown):
    ends = shown.figure.evaluate(
        "f => [...f.querySelectorAll('.label')].map(one => {"
        ' const lines = f.querySelector(`.series[data-place="${one.dataset.place}"]`);'
        " return lines.querySelector('.marker')?.y.baseVal.valueInSpecifiedUnits; })"
    )
    drawn = [end for end in ends if end is not None]
    assert len(drawn) >= 3
    assert drawn == sorted(drawn)


def test_a_link_that_means_nothing_here_changes_nothing(opened, every_page):
    bad = "#nowhere?plot-0.x=no&plot-99.x=1&front=%3Cb%3E"
    bad += "&cost=nothing&tolerance=x"
    watched = opened(every_page, fragment=bad)
    figure = watched.first_plot()
    assert figure.locator(".series").count() > 3
    checked = watched.page.locator("article.family .switch input:checked")
    values = checked.evaluate_all("all => all.map(box => box.value)")
    assert {*values} == {"seconds", "1 %"}
    assert watched.troubles == []


def test_every_control_has_a_name_and_headings_are_in_order(shown):
    nameless = """() => [...document.querySelectorAll('input, select, button')].filter(
        one => !one.labels?.length && !one.textContent.trim() && !one.ariaLabel).length"""
    assert shown.page.evaluate(nameless) == 0
    levels = shown.page.evaluate(
        "() => [...document.querySelectorAll('h1, h2, h3, h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("width", [1440, 390])
def test_one_switch_changes_all_families_and_a_link_shows_the_same(
    opened, every, every_page, width
):
    watched = opened(every_page, width)
    watched.first_plot()
    page = watched.page
    first = page.evaluate(FAMILIES)
    assert page.evaluate("location.hash") == ""
    switch = page.locator("article.family .switch").first
    switch.get_by_text("flops", exact=True).click()
    switch.get_by_text("0.0001 % of the gap", exact=True).click()
    chosen = page.evaluate(FAMILIES)
    key = ("flops", "0.0001 %")
    told = [one["answers"][key].sentence for one in page_content(every)["families"]]
    assert chosen == [[0, ",".join(key), sentence] for sentence in told]
    assert first != chosen
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    link = page.evaluate("location.hash")
    assert {"cost=flops", "tolerance=0.0001+%25"} == {*link.partition("?")[2].split("&")}
    again = opened(every_page, width, fragment=link)
    again.first_plot()
    assert again.page.evaluate(FAMILIES) == chosen
    assert again.page.evaluate("location.hash") == link
    switch.get_by_text("time", exact=True).click()
    switch.get_by_text("1 % of the gap", exact=True).click()
    assert page.evaluate(FAMILIES) == first
    assert "?" not in page.evaluate("location.hash")
    assert watched.troubles == again.troubles == []


@pytest.fixture(scope="module")
def exhibiting(opened, runs, exhibit, made, tmp_path_factory):
    """A page of two problems with images, curves and two references, and one full of markup."""

    def load(records):
        shown = {r.key: exhibit(r.solver.label, r.seed) for r in records if r.problem.label in "pq"}
        return {key: {**one, "other": one["chance"]} for key, one in shown.items()}

    records = [r for p in "pq" for s in ("hooi", "pgd") for r in runs(s, 1.0, seeds=2, problem=p)]
    records += [
        altered(
            r,
            primary=HOSTILE,
            tuned={HOSTILE: r.solver.tuned["step"]},
            trace=tuple(replace(m, metrics={**m.metrics, HOSTILE: 1.0}) for m in r.trace),
        )
        for step in (1.0, 2.0)
        for r in runs(HOSTILE, step, seeds=2, problem=HOSTILE, tuned={"step": step})
    ]
    return opened(write_page(made(records, load), tmp_path_factory.mktemp("exhibiting")))


def test_the_first_stop_of_the_keyboard_skips_to_the_summary(exhibiting):
    exhibiting.page.keyboard.press("Tab")
    assert exhibiting.page.evaluate("document.activeElement.textContent") == "Skip to the summary"


def test_images_can_be_shown(exhibiting):
    images = exhibiting.page.locator(".gallery img")
    assert images.count() == 2 * (1 + 2 * 3)
    assert images.evaluate_all("all => Promise.all(all.map(one => one.decode().then(() => true)))")


def test_references_differ_in_their_dashes(exhibiting):
    exhibiting.page.locator("#problems details.part").first.evaluate("one => { one.open = true }")
    figure = exhibiting.page.locator("figure[data-plot]", has_text="Curves").first
    figure.scroll_into_view_if_needed()
    figure.locator(".chart").wait_for(state="attached")
    assert figure.locator(".front").count() == 0  # none of them is in front
    dashes = figure.locator(".series.reference .line").evaluate_all(
        "all => all.slice(0, 2).map(path => path.getAttribute('stroke-dasharray'))"
    )
    assert len(set(dashes)) == 2
    assert figure.locator("span.label").all_text_contents() == ["chance", "other"]


def test_printing_opens_everything(exhibiting):
    page = exhibiting.page
    exhibiting.first_plot()
    last = page.locator("details.problem").last
    last.evaluate("details => { details.open = false }")
    assert page.pdf().startswith(b"%PDF")
    assert page.locator(".chart").count() == page.locator("figure[data-plot]").count()
    assert last.evaluate("details => details.open")
    assert exhibiting.troubles == []


def test_markup_in_names_metrics_and_parameters_is_text(shown, exhibiting):
    assert HOSTILE in shown.figure.locator(".chart").text_content()
    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("script").count() == 2
    problem = exhibiting.page.locator("#problems > details").last
    for part in (problem, problem.locator("details.part")):
        part.evaluate("details => { details.open = true }")
    first, tuning = (problem.locator("figure[data-plot]").nth(i) for i in (0, 1))
    for figure, axis in ((first, "y"), (tuning, "x")):
        figure.scroll_into_view_if_needed()
        figure.locator(".chart").wait_for(state="attached")
        title = figure.locator(f".{axis}-title").text_content()
        assert title == HOSTILE
    assert exhibiting.page.evaluate("window.hacked") is None
    assert exhibiting.troubles == []


def test_on_a_phone_nothing_scrolls_sideways(shown):
    shown.page.set_viewport_size({"width": 390, "height": 844})
    shown.figure.scroll_into_view_if_needed()
    chart = shown.figure.locator(".chart")
    assert chart.bounding_box()["width"] <= 390
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 390
    shown.page.set_viewport_size({"width": 1440, "height": 900})


def test_without_scripts_the_words_and_tables_stand(opened, every_page):
    watched = opened(every_page, java_script_enabled=False)
    text = watched.page.locator("body").inner_text()
    assert "switched off" in text
    assert "This plot needs JavaScript" in text
    assert "ZeroDivisionError" in text


def test_without_decompression_it_says_so(opened, every_page):
    watched = opened(every_page, before="delete window.DecompressionStream")
    notice = watched.page.locator("#trouble")
    notice.wait_for(state="visible")
    assert "cannot unpack the plots" in notice.text_content()
    assert watched.troubles == []
