"""Digests change with the meaning of code and files that a class reaches, and with nothing else."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import orthobench as ob
from orthobench.harness import source_digests

FILES = {
    "__init__.py": "from somebody.alpha import Alpha\nfrom somebody.beta import Beta\n",
    "base.py": "from orthobench.contract import Problem\nLIMIT = 3\n",
    "alpha.py": "from somebody.base import Problem\nclass Alpha(Problem): x: int = 1\n",
    "beta.py": "from . import base, kernels\nclass Beta(base.Problem): go = kernels.fast\n",
    "kernels/__init__.py": "def fast():\n    from .inner import loop\n    return loop\n",
    "kernels/inner.py": 'def loop(x: int) -> int:\n    """Return it."""\n    return x + 1  # one\n',
    "unused.py": "import orthobench.report\n",
    "data/table.csv": "1,2\n",
    "suite.toml": "seeds = 1\n",
}
BELOW = {"_version", "contract", "errors", "families", "tools"}
KEPT = {"_core", "_owners"}
"""The core's digest and the installed distributions, which few tests change: they take long."""

CACHED = [
    value
    for name, value in vars(source_digests).items()
    if hasattr(value, "cache_clear") and name not in KEPT
]

SOLVER = type("Solver", (), {"__module__": "builtins"})


def clear_caches():
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a plugin."""
    folder = tmp_path / "somebody"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("somebody.alpha", "somebody.beta"):  # not imported, but not by value
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    clear_caches()
    yield folder
    clear_caches()


@pytest.fixture
def changed(folder):
    """A function that returns the classes of the plugin whose digests change by what it calls."""
    made = [
        type(name, (), {"__module__": f"somebody.{name.lower()}"}) for name in ("Alpha", "Beta")
    ]

    def of(change):
        before = [source_digests.digests(cls, SOLVER) for cls in made]
        change()
        clear_caches()
        pairs = zip(made, before, strict=True)
        return {cls.__name__ for cls, old in pairs if source_digests.digests(cls, SOLVER) != old}

    return of


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("file", "old", "new", "expected"),
    [
        ("alpha.py", "1", "2", {"Alpha"}),
        ("alpha.py", "int", "ClassVar[int]", {"Alpha"}),
        ("beta.py", "go", "come", {"Beta"}),
        ("base.py", "LIMIT = 3", "LIMIT = 4", {"Alpha", "Beta"}),
        ("kernels/inner.py", "x + 1", "x + 2", {"Beta"}),
        ("kernels/__init__.py", "return loop", "return loop()", {"Beta"}),
        ("data/table.csv", "1,2", "1,3", {"Alpha", "Beta"}),
    ],
)
def test_change_of_meaning_changes_those_that_reach_it(changed, folder, file, old, new, expected):
    assert changed(lambda: edit(folder / file, old, new)) == expected


MEANINGLESS = [
    ("unused.py", "report", "stats"),
    ("suite.toml", "1", "2"),
    ("kernels/inner.py", "Return it.", "Return what it is."),
    ("kernels/inner.py", "# one", "# another"),
    ("kernels/inner.py", "x: int", "x: float"),
    ("kernels/inner.py", "-> int", ""),
    ("kernels/inner.py", "x + 1", "(x  +  1)"),
]


def test_change_without_meaning_changes_no_digest(changed, folder):
    def change():
        for file, old, new in MEANINGLESS:
            edit(folder / file, old, new)

    assert changed(change) == set()


@pytest.mark.parametrize("source", [b"class {{ name }}: ...\n", b"print('b\xf6se\0')\n"])
def test_file_that_is_not_python_counts_by_its_bytes(changed, folder, source):
    edit(folder / "beta.py", "kernels\n", "kernels, template\n")
    (folder / "template.py").write_bytes(source)
    assert changed(lambda: (folder / "template.py").write_bytes(source + source)) == {"Beta"}


def test_a_function_of_its_name_in_another_module_counts(changed, folder):
    (folder / "first.py").write_text("def f(): return 1\n")
    (folder / "second.py").write_text("def f(): return 2\n")
    text = "from .{} import f\nfrom .{} import f as g\nf(g)\n"
    (folder / "alpha.py").write_text(text.format("first", "second"))
    clear_caches()
    swapped = text.format("second", "first")
    assert changed(lambda: (folder / "alpha.py").write_text(swapped)) == {"Alpha"}


def test_rebuilt_library_changes_all_of_its_package(changed, folder):
    (folder / "fast.so").write_bytes(b"half")
    assert changed(lambda: (folder / "fast.so").write_bytes(b"whole")) == {"Alpha", "Beta"}


def test_files_that_a_class_names_count(folder, tmp_path):
    (tmp_path / "build").mkdir()
    library = tmp_path / "build" / "fast.so"
    for pattern in ("../build/*.so", str(library)):
        cls = type("Solver", (), {"__module__": "somebody.alpha", "files": (pattern,)})
        library.write_bytes(b"half")
        clear_caches()
        old = source_digests.digests(SOLVER, cls)["solver"]
        library.write_bytes(b"whole")
        clear_caches()
        assert source_digests.digests(SOLVER, cls)["solver"] != old
        assert source_digests.changed_files(cls, old) == ["fast.so"]


@pytest.mark.wide
def test_import_by_computed_name_depends_on_the_whole_package(changed, folder):
    (folder / "alpha.py").write_text("from importlib import import_module\nimport_module(x)\n")
    clear_caches()
    assert changed(lambda: edit(folder / "unused.py", "report", "stats")) == {"Alpha"}


def test_import_orthobench_reaches_all_makers_of_instances():
    assert {
        "orthobench_kit.second_moments",
        "orthobench.tools.geometry",
    } <= source_digests.reached("orthobench")


def test_no_digest_depends_on_report_store_or_command_line():
    catalogue = ob.catalogue()
    provided = [*catalogue.solvers.values(), *catalogue.problems.values()]
    for home in {one.item.__module__ for one in provided}:
        found = {m for m in source_digests.reached(home) if m.startswith("orthobench.")}
        assert {m.split(".")[1] for m in found} <= BELOW
        assert home in source_digests.reached(home)


def test_problem_does_not_depend_on_its_neighbours():
    problems = ob.catalogue().problems
    digits = source_digests.reached(problems["digits"].item.__module__)
    assert problems["brockett"].item.__module__ not in digits
    assert "orthobench_sparse_pca" not in digits
    assert "orthobench_kit.second_moments" in digits


def test_identity_covers_method_family_and_kit():
    found = source_digests.parts(ob.catalogue().solvers["gpower"].item)
    files = {Path(name) for name in found}
    packages = {next(part for part in file.parts if "orthobench_" in part) for file in files}
    assert packages == {"orthobench_gpower", "orthobench_sparse_pca", "orthobench_kit"}
    assert any(file.name == "pitprops.csv" for file in files)
    assert not any(file.suffix in (".in", ".toml") for file in files)


def test_class_without_a_file_has_the_code_of_the_core():
    found = source_digests.digests(int, SOLVER)
    assert list(found) == ["orthobench", "problem", "solver"]
    assert found["orthobench"]
    assert found["problem"] == found["solver"] == ""


def test_package_of_the_same_distribution_is_reached(tmp_path, monkeypatch):
    files = {
        "one.py": "from two import loop\nclass Alpha: go = loop\n",
        "two.py": "def loop(): pass\n",
        "toy-1.dist-info/METADATA": "Name: toy\nVersion: 1\n",
        "toy-1.dist-info/RECORD": "one.py,,\ntwo.py,,\n",
        "toy-1.dist-info/entry_points.txt": "[orthobench]\ntoy = one\n",
    }
    for name, text in files.items():
        path = tmp_path / "site-packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    source_digests.forget()
    assert source_digests.reached("one") == {"one", "two"}
    source_digests.forget()


def test_installed_libraries_have_no_digest(folder):
    assert source_digests.code_of("json") == source_digests.code_of("no_such_module") == ""
    assert source_digests.code_of("pytest") == ""
    assert source_digests.code_of("orthobench.errors")
    before = source_digests.code_of("somebody.alpha")
    assert len(before.split()) == len(source_digests.reached("somebody.alpha"))
    edit(folder / "base.py", "LIMIT = 3", "LIMIT = 4")
    clear_caches()
    assert source_digests.code_of("somebody.alpha") != before


def test_imports_of_each_form_are_followed(folder):
    assert source_digests.imports("somebody.beta") == {"somebody.base", "somebody.kernels"}
    assert source_digests.imports("somebody.kernels") == {"somebody.kernels.inner"}
    assert source_digests.imports("somebody.alpha") == {"somebody.base"}
    (folder / "alpha.py").write_text(
        "import json, somebody.base as base\nfrom somebody import Beta\nfrom .. import top\n"
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pickle\n"
        "else:\n    import zlib\nfrom somebody.kernels import fast\n"
    )
    clear_caches()
    assert source_digests.imports("somebody.alpha") - {"", "top"} == {
        "json", "somebody.base", "somebody.beta", "typing", "zlib", "somebody.kernels",
    }  # fmt: skip


def test_files_of_modules_and_packages_are_found(folder, tmp_path):
    (tmp_path / "alone.py").write_text("")
    clear_caches()
    assert source_digests.file_of("somebody") == folder / "__init__.py"
    assert source_digests.file_of("somebody.kernels") == folder / "kernels" / "__init__.py"
    assert source_digests.file_of("somebody.kernels.inner") == folder / "kernels" / "inner.py"
    assert source_digests.file_of("somebody.none") is None
    assert source_digests.file_of("alone") == tmp_path / "alone.py"
    assert source_digests.file_of("alone.inner") is None
    assert source_digests.file_of("no_such_package") is None
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "inner.py").write_text("")
    clear_caches()
    assert source_digests.file_of("bare") is None
    assert source_digests.file_of("bare.inner") == tmp_path / "bare" / "inner.py"


def test_a_module_beside_a_plugin_counts_as_its_own(folder, tmp_path):
    (tmp_path / "beside.py").write_text("import json\n")
    (folder / "alpha.py").write_text("import beside, json\n")
    clear_caches()
    assert source_digests.reached("somebody.alpha") == {"somebody.alpha", "beside"}


def write(folder, *files):
    for file in files:
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text("new")


@pytest.mark.parametrize("file", ["more.csv", "data/more.so"])
def test_a_new_file_that_a_run_may_load_counts(changed, folder, file):
    assert changed(lambda: write(folder, file)) == {"Alpha", "Beta"}


def test_a_new_file_that_no_run_loads_does_not_count(changed, folder):
    files = (
        ".hidden", ".git/x", "__pycache__/x.csv", "notes.md", "notes.rst", "more.pyi", "py.typed",
        "settings.toml", "data/kernel.nbc",
    )  # fmt: skip
    assert changed(lambda: write(folder, *files)) == set()
