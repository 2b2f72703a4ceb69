"""The page as a file: complete, escaped, small, the same bytes each time, or not there at all."""

import gzip
import json
import re
from base64 import b64decode
from dataclasses import replace

import pytest
from records import altered

from orthobench.harness.stopping import RunStatus
from orthobench.report.page import write_page

HOSTILE = '<img src=x onerror="window.hacked=1"></script><script>window.hacked=1</script>'


def unpacked(path, name):
    found = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', path.read_text())
    return gzip.decompress(b64decode(found[1])).decode()


def outside_scripts(path):
    """The page without its own script and without what is packed."""
    return re.sub(r"<script[ >].*?</script>", "", path.read_text(), flags=re.DOTALL)


def test_names_are_never_markup(runs, made, tmp_path):
    records = [
        altered(r, reason=HOSTILE, family=HOSTILE, primary="gap", tuned={HOSTILE: HOSTILE})
        for r in [*runs(HOSTILE, 1.0, problem=HOSTILE), *runs("b", 2.0, problem=HOSTILE, failed=2)]
    ]
    path = write_page(made(records, text=f"description = '{HOSTILE}'"), tmp_path)
    text = outside_scripts(path)
    assert "<img" not in text
    assert "<script" not in text
    assert text.count("&lt;img src=x onerror=&#34;") > 20
    assert path.read_text().count("<script") == 2


def test_all_failures_are_listed_with_their_reasons(every, every_page):
    text = every_page.read_text()
    section = text[text.index('id="failed"') : text.index('id="provenance"')]
    failed = [r for r in every.records if r.stop.status is RunStatus.ERROR]
    assert len(failed) == 9
    assert "ZeroDivisionError" in section
    assert section.count(": failing: error:") == len({r.problem.label for r in failed})
    assert "<b>9</b> failed runs" in text


def test_refusals_are_named_with_the_reason(every, every_page):
    text = every_page.read_text()
    section = text[text.index('id="failed"') : text.index('id="provenance"')]
    assert every.refused
    for reason in {record.stop.reason for record in every.refused}:
        assert reason.replace("'", "&#39;") in section
    assert "Taking no part" in text


def test_a_missing_run_is_not_a_failed_run(runs, made, tmp_path):
    records = [*runs("a", 1.0, seeds=4), *runs("b", 2.0, seeds=3)]
    text = write_page(made(records), tmp_path).read_text()
    assert "not run yet, and not counted: b 1 of 4 runs" in text
    assert "failed run<" not in text
    assert "3/4" in text


def test_an_interrupted_store_is_shown_as_partial(runs, made, tmp_path):
    waiting = {"status": RunStatus.MISSING, "reason": "not run yet", "trace": ()}
    rest = [altered(r, **waiting) for r in runs("b", 2.0) + runs("a", 1.0, problem="q")]
    text = write_page(made([*runs("a", 1.0), *rest]), tmp_path).read_text()
    assert "<li><b>5</b> runs</li>" in text
    assert "<li><b>10</b> not run yet</li>" in text
    assert "failed run" not in text[: text.index('id="evidence"')]
    assert "not run yet, and not counted: b 5 of 5 runs</li>" in text


def test_without_failures_nothing_is_said_of_them(runs, made, tmp_path):
    text = write_page(made(runs("a", 1.0)), tmp_path).read_text()
    assert "What failed" not in text
    assert 'class="mark bad"' not in text
    # nor do tags of the template leave lines of their own
    body = re.sub(r"<(script|style)[ >].*?</\1>", "", text, flags=re.DOTALL).splitlines()
    assert sum(not line for line in body) < len(body) / 5


def test_a_problem_that_nobody_takes_is_shown_without_plots(record, made, tmp_path):
    records = [
        record("a", 0, 1.0),
        replace(record("a", 0, 1.0, problem="p", status=RunStatus.REFUSED, reason="no"), trace=()),
    ]
    text = write_page(made(records), tmp_path).read_text()
    assert "No solver has a finished run" in text


def test_the_page_is_one_small_file(every_page):
    assert every_page.stat().st_size < 5e5
    assert [p.name for p in every_page.parent.iterdir()] == ["index.html"]


def test_equal_results_give_equal_bytes(every, every_page, tmp_path):
    assert write_page(every, tmp_path).read_bytes() == every_page.read_bytes()


def test_data_are_json_with_every_panel_of_every_plot(every_page):
    data = json.loads(unpacked(every_page, "data"))
    assert len(data["plots"]) >= 6
    for plot in data["plots"]:
        assert plot["panels"]
        for panel in plot["panels"]:
            for one in panel["series"]:
                assert len(data["pool"][one["x"]]) == len(data["pool"][one["y"]])


def test_images_stand_beside_each_other_with_names_and_words(runs, load, made, tmp_path):
    records = [r for s in ("hooi", "pgd") for r in runs(s, 1.0, seeds=2)]
    text = write_page(made(records, load), tmp_path).read_text()
    gallery = text[text.index('<figure class="gallery">') : text.index('id="across"')]
    assert gallery.count("<img ") == 1 + 2 * 3
    assert gallery.count('decoding="async"') == 1 + 2 * 3
    for alt in ("truth, the same for all", "band 1: hooi", "band 2: pgd", "map: pgd"):
        assert f'alt="{alt}" width="8" height="6"' in gallery


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("/home/me/bin/orthobench run it", "orthobench run it"),
        ("/home/me/orthobench/__main__.py run it", "python -m orthobench run it"),
        ("", ""),
        ("it's", "it&#39;s"),
    ],
)
def test_the_command_is_what_its_user_types(runs, made, tmp_path, command, shown):
    text = write_page(made(runs("a", 1.0), command=command), tmp_path).read_text()
    assert (f'<th scope="row">command</th><td>{shown}</td>' in text) == bool(shown)
