"""What identifies objects of a notebook or a script: what their code does, and their data."""

import textwrap
from types import FunctionType

import numpy as np
import pytest

from orthobench.harness.objects import digest_of

CODE = '''
from functools import cache

LIMIT = 3

@cache
def offset():
    return LIMIT

def helper(x):
    return x + offset()

class Method:
    """What it does."""

    batch = 1

    def step(self, x):
        """Do a step."""
        found = helper(x) if x in {"one", "two", "three"} else [helper(y) for y in x]
        return found  # the end

    @property
    def size(self):
        return self.batch
'''


def digest(value):
    return digest_of(value, lambda module: "")


def method(text):
    names = {"__name__": "__main__"}
    exec(textwrap.dedent(text), names)  # noqa: S102 - as a notebook does
    return names["Method"]


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Do a step.", "Do one step.", True),
        ('"""Do a step."""', "", True),
        ("What it does.", "What it is for.", True),
        ("  # the end", "", True),
        ("found", "value", True),
        ("self, x)", "self, x: int) -> list", True),
        ("\nclass", "\n\n\nclass", True),
        ("LIMIT = 3", "LIMIT = 4", False),
        ("x + offset", "x - offset", False),
        ("batch = 1", "batch = 2", False),
        ("return self.batch", "return -self.batch", False),
        ('"two", ', "", False),
        ("[helper(y)", "[y", False),
    ],
)
def test_a_class_is_what_its_code_does(old, new, same):
    assert old in CODE
    assert (digest(method(CODE)) == digest(method(CODE.replace(old, new)))) is same


def test_a_closure_and_defaults_count():
    def of(factor, default=1):
        return lambda x, y=default: factor * x + y

    assert digest(of(2)) == digest(of(2))
    assert len({digest(f) for f in (of(2), of(3), of(2, 2))}) == 3


def test_data_count_and_their_memory_does_not():
    A = np.arange(12.0).reshape(3, 4)
    assert digest({"A": A}) == digest({"A": A.copy()})
    assert digest(A) != digest(A.T.copy())
    assert digest(A) != digest(A.astype(np.float32))


def test_what_cannot_be_looked_into_is_like_nothing_else():
    rows = (row for row in np.eye(2))
    assert digest(rows) != digest(rows)


def test_a_mapped_file_counts_by_its_state(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    before = digest(tmp_path / "x.npy")
    assert before == digest(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.eye(4))
    assert digest(tmp_path / "x.npy") != before


def test_a_function_that_calls_itself_has_an_end():
    names = {"__name__": "__main__"}
    exec("def f(n):\n    return n and f(n - 1)", names)  # noqa: S102 - as a notebook does
    assert isinstance(names["f"], FunctionType)
    assert digest(names["f"]) == digest(names["f"])
