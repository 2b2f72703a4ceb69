"""The tutorial for authors of plugins: its commands work, and print what the page shows.

It begins with what the page on installing shows: both pages are of one fresh environment.
"""

import logging
import os
import re
import shutil
import sys
from pathlib import Path
from time import perf_counter

import pytest
from click.testing import CliRunner
from fences import blocks, commands, environment, expect, run, texts

from orthobench.cli.main import main

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "docs" / "guide" / "install.md"
FILE = ROOT / "docs" / "plugins" / "tutorial.md"
PAGE = FILE.read_text(encoding="utf-8")
EDITED = Path("orthobench-my-oja/src/orthobench_my_oja/solver.py")
LOG = logging.getLogger(__name__)


def typed(page):
    return [command for text in texts(page, "console") for command, _ in commands(text)]


def edited(source, diff):
    """The source after the edit that a page shows."""
    for hunk in diff.split("@@\n"):
        lines = hunk.splitlines()
        old = "\n".join(line[1:] for line in lines if line[0] in " -")
        new = "\n".join(line[1:] for line in lines if line[0] in " +")
        assert source.count(old) == 1, hunk
        source = source.replace(old, new)
    return source


def test_every_step_has_its_time_and_they_add_up_to_ten_minutes():
    steps = re.findall(r"^## (\d\. .*)$", PAGE, re.MULTILINE)
    rows = re.findall(r"^\| (.*) \| (\d+) s \| (\d+) min \|$", PAGE, re.MULTILINE)
    *each, (together, seconds, minutes) = rows
    assert [step for step, _, _ in each] == steps
    assert together == "together"
    assert sum(int(s) for _, s, _ in each) == int(seconds)
    assert sum(int(m) for _, _, m in each) == int(minutes) == 10


def test_the_generator_prints_the_text_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["plugin", "new", "orthobench-my-oja"])
    advised = [line.strip() for line in result.stdout.splitlines() if line.startswith("    ")]
    assert len(advised) == 6
    page = [
        command.replace("--quiet ", "").replace("pytest -q", "pytest") for command in typed(FILE)
    ]
    assert not set(advised) - set(page)
    source = (tmp_path / EDITED).read_text()
    for diff in texts(FILE, "diff"):
        source = edited(source, diff)
    compile(source, "solver.py", "exec")
    assert "**self.power" in source


def processor_seconds():
    """Processor time of ended child processes: it varies less than a busy machine's clock."""
    spent = os.times()
    return spent.children_user + spent.children_system


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.usefixtures("own_core")
def test_every_command_works_in_a_fresh_environment(tmp_path):
    """Its times: pytest -m slow tests/docs --log-cli-level=INFO."""
    (tmp_path / "orthobench").symlink_to(ROOT)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(Path(sys.executable).resolve())
    fresh = environment(PATH=f"{tmp_path / 'bin'}:/usr/bin:/bin")
    first, *others = blocks(FILE, "console", "diff")
    assert [command for command, _ in commands(first[1])] == typed(INSTALL)[:3]
    for kind, text in (*blocks(INSTALL, "console"), *others):
        if kind == "diff":
            file = tmp_path / EDITED
            file.write_text(edited(file.read_text(), text))
            continue
        for command, shown in commands(text):
            begin, busy = perf_counter(), processor_seconds()
            printed = run(command, tmp_path, fresh)
            spent = perf_counter() - begin, processor_seconds() - busy
            LOG.info("%6.1f s, %6.1f s of a processor: %s", *spent, command)
            expect(command, shown, printed)
