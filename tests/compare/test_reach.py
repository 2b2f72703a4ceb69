"""The files of a project, and its code that runs at import."""

import ast
import sys
import textwrap
from types import SimpleNamespace

import pytest

from orthobench.compare.cells import SideCells
from orthobench.compare.changes import between
from orthobench.compare.remote import reach
from orthobench.compare.sides import Side

from .conftest import UNTOLD


def acting(text):
    return [*map(ast.dump, reach.acting_nodes(reach.parsed(textwrap.dedent(text).encode())))]


BASE = '''
"""A module."""
import numpy as np
from dataclasses import dataclass

RATE: float = 0.5

@dataclass
class Method:
    step: float = 1.0

    def advance(self):
        return self.step

def helper(x):
    return 2 * x
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A module."""', '"""Another text."""'), ("return self.step", "return 3"),
        ("import numpy as np", "import math\nimport numpy"), ("RATE: float = 0.5", "RATE = 1"),
        ("return 2 * x", "return x"), ("def helper(x)", "def other(x: int) -> int"),
    ],
)  # fmt: skip
def test_definitions_do_nothing_at_import(old, new):
    assert acting(BASE.replace(old, new)) == acting(BASE)


@pytest.mark.parametrize(
    "more",
    [
        "Method.advance = None", "helper(3)", "import sys\nsys.settrace(helper)",
        "for i in []: pass",
        "x = helper(3)", "TABLE = {}\nTABLE['a'] = 1", "@helper\ndef wrapped(): pass", "del RATE",
        "try:\n    import scipy\nexcept ImportError:\n    scipy = None",
    ],
)  # fmt: skip
def test_action_at_import_is_seen(more):
    assert acting(f"{BASE}\n{more}\n") != acting(BASE)


def test_function_called_at_import_counts_with_its_callees():
    text = "def wrap(f):\n    return inner(f)\ndef inner(f):\n    return 1\nwrap(3)\n"
    for old, new in (("return inner(f)", "return 2"), ("return 1", "return 2")):
        assert acting(text.replace(old, new)) != acting(text)
    assert acting(text.replace("wrap(3)", "")) == []


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A package of three modules, of which ``apart`` is never imported."""
    folder = tmp_path / "toyreach"
    folder.mkdir()
    files = {
        "__init__.py": "from toyreach import kernels\nfrom .wrapping import wrap\n"
        "kernels.step = wrap(kernels.step)\n",
        "kernels.py": "def step(): return 1\n", "wrapping.py": "def wrap(f): return f\n",
        "apart.py": "print(1)\n", "data.bin": "x", "README.md": "x",
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).write_text(text)
    entry = SimpleNamespace(select=lambda group: [])
    one = SimpleNamespace(entry_points=entry, files=(), name="toyreach")
    monkeypatch.setattr(reach.metadata, "distribution", lambda name: one)
    monkeypatch.syspath_prepend(tmp_path)
    __import__("toyreach")
    yield folder
    for name in [name for name in sys.modules if name.startswith("toyreach")]:
        del sys.modules[name]


def kinds(folder, name, text):
    before = reach.Project(["toyreach"]).kinds([f"toyreach/{name}"])[f"toyreach/{name}"]
    (folder / name).write_text(text)
    after = reach.Project(["toyreach"]).kinds([f"toyreach/{name}"])[f"toyreach/{name}"]
    return [one != other for one, other in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("__init__.py", "from toyreach import kernels\nkernels.step = None\n", [True, True]),
        ("kernels.py", "def step(): return 2\n", [True, False]),
        ("wrapping.py", "def wrap(f): return None\n", [True, True]),
        ("kernels.py", "def step():\n    'Text.'\n    return 1\n", [False, False]),
        ("apart.py", "print(2)\n", [True, False]),
        ("data.bin", "y", [True, False]),
    ],
)
def test_code_and_its_part_at_import_have_two_digests(project, name, text, changed):
    assert kinds(project, name, text) == changed


def test_project_has_the_files_that_a_run_could_read(project):
    found = reach.Project(["toyreach"])
    names = {f"toyreach/{name}" for name in
             ("__init__.py", "kernels.py", "wrapping.py", "apart.py", "data.bin")}  # fmt: skip
    assert {*found.digests()} == names
    assert found.names_of([str(project / "kernels.py"), "/elsewhere"]) == ["toyreach/kernels.py"]
    assert found.kinds(["gone.py"]) == {}
    assert reach.modules("toyreach") == ["toyreach"]
    assert reach.loaded(["toyreach"]) == ["toyreach", "toyreach.kernels", "toyreach.wrapping"]


def side(files, kinds, imported=(), **facts):
    """The cells of a side whose files have these digests and kinds."""
    facts = {**UNTOLD, "files": files, **facts}
    side = Side("a", "wheel", "a")
    return SideCells(side, {}, {}, (), facts, kinds=kinds, imported={*imported})


def test_files_differ_by_their_code_and_reach():
    reached = [(("d", "s", 0), ["p/a.py"]), (("d", "s", 1), ["p/a.py"])]
    kinds = [{"p/a.py": ("1", ""), "p/b.py": ("1", ""), "p/c.py": ("1", "")},
             {"p/a.py": ("2", ""), "p/b.py": ("1", ""), "p/d.py": ("1", "")}]  # fmt: skip
    old, new = side({}, kinds[0], reached=reached), side({}, kinds[1])
    found = between(old, new).files
    assert {file.name: (file.how, file.cells) for file in found} == {
        "p/a.py": ("changed", 2), "p/b.py": ("comments", 0), "p/c.py": ("removed", 0),
        "p/d.py": ("added", 0),
    }  # fmt: skip
    assert found[0].solvers == ("s",)
    assert old.shared_code == new.shared_code == {}
    acts = side({}, kinds[1] | {"p/d.py": ("1", "x")})
    assert acts.shared_code == {"p/d.py": "x"}
    assert [file.name for file in between(old, acts).files if file.at_import] == ["p/d.py"]
    library = side({}, kinds[0], ["p.a"], libraries=["p"], reached=reached)
    assert library.shared_code == {"p/a.py": "1", "p/b.py": "1", "p/c.py": "1"}
    assert between(library, new).files[0].imported


def test_a_requirement_that_is_new_is_told():
    found = between(side({}, {}), side({}, {}, requires=["scipy>=1.9"]))
    assert [*found.lines()] == [
        "requirements: none -> scipy>=1.9; what was installed is the same on both sides"
    ]
