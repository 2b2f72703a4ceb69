"""Stores, suites and arrays that a stranger damaged: refused in a line, or harmless."""

import subprocess
import sys
from pathlib import Path

import damaged_arrays
import damaged_stores
import damaged_suites
import pytest

FUZZ = Path(__file__).parent / "fuzz.py"
FEW = {damaged_arrays: 100, damaged_stores: 8, damaged_suites: 8}


@pytest.mark.parametrize("kind", FEW, ids=lambda kind: kind.__name__)
def test_damaged_file_is_refused_in_a_line_or_harmless(tmp_path, kind):
    for number in range(FEW[kind]):
        kind.attack(tmp_path, number)


@pytest.mark.faults
@pytest.mark.parametrize("kind", ["arrays", "stores", "suites"])
def test_ten_thousand_files_that_strangers_damaged(kind):
    done = subprocess.run(
        [sys.executable, str(FUZZ), kind, "10000"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
