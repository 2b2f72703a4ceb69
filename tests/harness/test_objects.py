"""Identity of objects of a notebook or a script: the meaning of their code, and their data."""

import json
import pickle
import textwrap
from types import FunctionType, SimpleNamespace

import numpy as np
from orthobench_kit.rows import MappedFile, OpenRows

from orthobench.harness.objects import by_value, digest_of, pickled

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


def test_a_class_is_what_its_code_does():
    for old, new, same in (
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
    ):
        assert old in CODE, (old, new)
        assert (digest(method(CODE)) == digest(method(CODE.replace(old, new)))) is same, (old, new)


def test_a_closure_and_defaults_count():
    def of(factor, default=1):
        return lambda x, y=default: factor * x + y

    assert digest(of(2)) == digest(of(2))
    assert len({digest(f) for f in (of(2), of(3), of(2, 2))}) == 3

    def unset():
        found = lambda: later  # noqa: E731 - a cell that is empty when it is looked at
        yield digest(found), digest(of(2))
        later = 1

    assert len({*next(unset()), *next(unset())}) == 2


def test_data_count_and_their_memory_does_not():
    A = np.arange(12.0).reshape(3, 4)
    assert digest({"A": A}) == digest({"A": A.copy()})
    assert digest(A) != digest(A.T.copy())
    assert digest(A) != digest(A.astype(np.float32))


def test_value_that_cannot_be_read_has_a_unique_digest():
    opened = OpenRows(SimpleNamespace(shape=(2, 2), dtype=np.dtype(float), chunks=None))
    for rows in ((row for row in np.eye(2)), opened):
        assert digest(rows) != digest(rows)


def test_a_mapped_file_counts_by_its_state(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    before = digest(tmp_path / "x.npy")
    assert before == digest(tmp_path / "x.npy")
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    whole, part = MappedFile.of(mapped), MappedFile.of(mapped[1:])
    assert digest(whole) == digest(MappedFile.of(np.load(tmp_path / "x.npy", mmap_mode="r")))
    assert len({digest(whole), digest(part), before}) == 3
    np.save(tmp_path / "x.npy", np.eye(4))
    assert digest(tmp_path / "x.npy") != before
    assert digest(tmp_path / "none") != digest(tmp_path / "other")


def test_a_function_that_calls_itself_has_an_end():
    names = {"__name__": "__main__"}
    exec("def f(n):\n    return n and f(n - 1)", names)  # noqa: S102 - as a notebook does
    assert isinstance(names["f"], FunctionType)
    assert digest(names["f"]) == digest(names["f"])


def made(text, name="f"):
    names = {"__name__": "__main__"}
    exec(text, names)  # noqa: S102 - as a notebook does
    return names[name]


def test_how_a_function_is_called_counts():
    forms = ("(a, b)", "(*a)", "(**a)", "(a, *, b)", "(a, *b)", "(a, **b)")
    texts = [f"def f{form}: return a" for form in forms]
    assert len({digest(made(text)) for text in texts}) == len(texts)
    assert digest(made("def f(a): return a")) == digest(made("def f(b): return b"))
    defaults = ("(a=1)", "(a=2)", "(*, a=1)", "(*, a=2)")
    assert len({digest(made(f"def f{form}: return a")) for form in defaults}) == 4


def test_bases_decorators_setters_and_members_count():
    text = "from functools import cached_property\nclass f({}):\n    {}\n    def x(self): pass"
    parts = [(base, "@property") for base in ("object", "dict", "list")]
    parts += [("object", f"@{name}") for name in ("cached_property", "classmethod", "staticmethod")]
    texts = [text.format(*part) for part in parts]
    texts += [f"{texts[0]}\n    @x.setter\n    def x(self, y): self.y = {y}" for y in (1, 2)]
    found = [digest(made(text)) for text in texts]
    assert found == [digest(made(text)) for text in texts]
    assert len({*found}) == len(texts)
    assert digest({3, 1, 2}) == digest({2, 3, 1}) != digest({1, 2})


def test_import_counts_by_the_code_of_its_module():
    asked = []

    def code_of(module):
        asked.append(module)
        return CODES[module]

    CODES.update(pickle="1", json="1")
    values = [pickle.Pickler, [json.loads, json.loads], {"module": json}]
    before = [digest_of(value, code_of) for value in values]
    assert {*asked} <= {"pickle", "_pickle", "json"}
    CODES["json"] = "2"
    after = [digest_of(value, code_of) for value in values]
    assert [old == new for old, new in zip(before, after, strict=True)] == [True, False, False]
    assert digest_of(json.loads, code_of) != digest_of(json.dumps, code_of)


CODES = {"_pickle": "1"}


def test_instances_of_a_notebook_go_to_another_process_by_value():
    text = CODE.replace("class Method:", "class Method:\n    size_: int = 0")
    cls = method(text)
    data = pickled(cls())
    assert pickle.loads(data).size == 1  # noqa: S301
    assert b"__main__" not in pickled({"a": 1})
    assert by_value(cls)
    assert by_value(made("def f(): pass"))
    assert not by_value(json.JSONDecoder)
