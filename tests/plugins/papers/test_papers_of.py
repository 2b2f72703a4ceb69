"""Papers described by TOML files of a package."""

import sys

import pytest
from orthobench_papers.reproduce import Paper, papers_of
from orthobench_papers.reproduce.claims import Verdict

from orthobench.contract import hookimpl
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, Registry

CODE = """
from orthobench_papers.reproduce import Measurement, Verdict

def double(x):
    return 2 * x

def check(evidence, factor, change=abs):
    return Measurement(Verdict.HOLDS, change(factor * evidence))

def multiples(evidence, factor):
    return [factor * each for each in evidence]

def draw(evidence):
    return evidence
"""
TEXT = """
name = "mine-2030"
reference = "A. Author: *My method*. 2030."

[claims.first]
sentence = "It doubles."
source = "Figure 1"
check = "check"
with = { factor = 3, change = "@double" }
suites = ["one", "two"]

[claims.second]
sentence = "It cannot be tested."
source = "Figure 2"
known = "not testable here"
reason = "The data are gone."

[pictures.figure-1]
source = "Figure 1"
caption = "A picture."
plot = "draw"
"""


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a function that writes a package with one paper and reads it."""
    package = tmp_path / "papers_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mine_2030.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)

    def read(text):
        (package / "mine_2030.toml").write_text(text, encoding="utf-8")
        return papers_of("papers_of_a_test")

    yield read
    for name in [name for name in sys.modules if name.startswith("papers_of_a_test")]:
        del sys.modules[name]


def test_a_paper_has_the_claims_of_its_file(written):
    (paper,) = written(TEXT)
    first, second = paper.claims
    assert first.check(5).value == 30
    assert (first.suites, first.known) == (("one", "two"), Verdict.HOLDS)
    assert (second.check, second.known) == (None, Verdict.UNTESTABLE)
    assert paper.pictures[0].plot(7) == 7
    assert paper.suites.parts[-2:] == ("mine_2030", "suites")


def test_a_file_has_the_estimate_of_values_and_its_bounds(written):
    estimate = """check = "multiples"
with = { factor = 3 }
mean = { high = 6.5 }
text = "{factor} times as much"
"""
    (paper,) = written(TEXT.replace('known = "not testable here"', estimate, 1))
    for values, verdict in (((2.0, 2.0), Verdict.HOLDS), ((3.0, 3.0), Verdict.FAILS)):
        found = paper.claims[1].check(values)
        assert (found.value, found.verdict) == (3 * values[0], verdict)
        assert found.text == "3 times as much"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('check = "check"', 'check = "chekc"'),
        ("source =", "sauce ="),
        ("suites =", "suits ="),
        ("@double", "@treble"),
        ('known = "not testable here"', 'known = "perhaps"'),
        ("[claims.second]", "[claims.first]"),
        ('name = "mine-2030"', ""),
    ],
)
def test_a_mistake_in_a_file_names_the_file(written, old, new):
    with pytest.raises(ValueError, match=r"^mine_2030\.toml: "):
        written(TEXT.replace(old, new, 1))


def test_paper_of_two_plugins_is_neither_and_others_stay(tmp_path):
    def brings(*items):
        return hookimpl(lambda: items)

    mine, other = (Paper(name, "A. Author", (), tmp_path) for name in ("mine-2030", "other-2031"))
    brought = {"one": brings(mine), "two": brings(mine, other), "three": brings("paper")}
    known = Registry()
    for name, hook in brought.items():
        known.plugins[Plugin(name)] = {"orthobench_claims": hook}
    assert known.paper("other-2031") is other
    with pytest.raises(UsageError, match="'two' and plugin 'one' both bring paper 'mine-2030'"):
        known.paper("mine-2030")
    assert "'paper' is not a Paper" in known.broken["papers of three"]
