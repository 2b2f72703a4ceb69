"""Stores, suites and arrays that a stranger damaged: refused in a line, or harmless."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).parent / "fuzz.py"


def fuzz(kind, count):
    done = subprocess.run(
        [sys.executable, str(FUZZ), kind, str(count)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.mark.parametrize(("kind", "count"), [("stores", 24), ("suites", 40), ("arrays", 80)])
def test_what_strangers_damaged_is_refused_in_a_line_or_harmless(kind, count):
    fuzz(kind, count)


@pytest.mark.faults
@pytest.mark.parametrize("kind", ["stores", "suites", "arrays"])
def test_ten_thousand_files_that_strangers_damaged(kind):
    fuzz(kind, 10_000)
