"""The page about the rule of decision has the numbers that its commands print."""

import subprocess
import sys
from pathlib import Path

import pytest
from decision_errors import COLUMNS, TABLES, row, shares
from fences import texts
from scipy.stats import binom

PAGE = Path(__file__).parents[2] / "docs" / "decision.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROBLEMS = 300


def test_the_example_prints_what_is_shown():
    (code,), (shown,) = texts(PAGE, "python"), texts(PAGE, "console")
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert printed.startswith(shown.partition("\n")[2].removesuffix("...\n"))
    two, three = (100 * binom.cdf(k, 12, 0.5) for k in (2, 3))
    prose = " ".join(TEXT.split())
    assert f"at most {two:.1f} %" in prose
    assert f"would have {three:.1f} %" in prose


@pytest.mark.wide
@pytest.mark.parametrize(("kind", "column"), [("ties", "5 seeds"), ("skewed", "3 seeds")])
def test_a_cell_of_each_table_is_what_the_script_finds(kind, column):
    found = shares(kind, column, PROBLEMS)
    lines = [line for line in TEXT.splitlines() if line.startswith(f"| {kind} |")]
    place = 2 + list(COLUMNS).index(column)
    cells = [line.split("|")[place].strip() for line in lines]
    assert cells == [row(found, names) for names in TABLES]
