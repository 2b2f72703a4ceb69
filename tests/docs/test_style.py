"""The linter of texts finds what docs/style.md says, and leaves plain sentences alone."""

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "style.py"
spec = importlib.util.spec_from_file_location("style", SCRIPT)
style = importlib.util.module_from_spec(spec)
sys.modules["style"] = style  # its dataclasses look there for their types
spec.loader.exec_module(style)

PLAIN = (
    "If k is above the rank, the rest is zero.",
    "The error is |X - Y|, where X is the data and Y has rank k.",
    "Where does a solver go? In its family.",
    "Maximum number of samples that one step takes.",
    "Whether columns are divided by their standard deviations.",
)
BROKEN = (
    ("if", "Where k is above the rank, the rest is zero."),
    ("if", "The rest is zero where the rank is below k."),
    ("start", "It ends. What is left is zero."),
    ("maximum", "The most samples that one step takes."),
    ("maximum", "It takes so many rows."),
    ("person", "A race hands over its table."),
    ("filler", "A matrix that is there."),
    ("long", " ".join(["word"] * 41) + "."),
)


@pytest.mark.parametrize("sentence", PLAIN)
def test_plain_sentences_pass(sentence):
    assert not list(style.broken(sentence))


@pytest.mark.parametrize(("rule", "sentence"), BROKEN)
def test_each_rule_finds_its_sentence(rule, sentence):
    parts = style.sentences(style.Text(1, sentence))
    assert [found for part in parts for found, _ in style.broken(part.text)] == [rule]


def test_code_and_formulas_are_not_read():
    page = "It ends.\n\n```python\n# Where it ends\n```\n\n| a | Where it ends |\n|---|---|\n"
    found = [(t.line, r) for t in style.of_page(page) for r, _ in style.broken(t.text)]
    assert found == [(7, "if")]


def test_docstrings_and_help_are_read():
    tree = ast.parse('X = 1\n"""The most rows."""\n\n\noption(help="What is shown.")\n')
    rules = [rule for text in style.of_code(tree) for rule, _ in style.broken(text.text)]
    assert rules == ["maximum", "start"]
