"""A key changes with the code that its cell reaches, and with no other."""

import sys

import pytest

import orthobench as ob
from orthobench.harness import source_digests

FILES = {
    "__init__.py": "from somebody.alpha import Alpha\nfrom somebody.beta import Beta\n",
    "base.py": "from orthobench.contract import Problem\n",
    "alpha.py": "from somebody.base import Problem\nclass Alpha: pass\n",
    "beta.py": "from . import base, kernels\nclass Beta: pass\n",
    "kernels/__init__.py": "def fast():\n    from .inner import loop\n",
    "kernels/inner.py": "loop = 1\n",
    "unused.py": "import orthobench.report\n",
}
BELOW = {"_version", "contract", "errors", "families", "tools"}
CACHED = (
    source_digests.digests,
    source_digests.reached,
    source_digests.imports,
    source_digests.file_of,
    source_digests._root,
    source_digests._modules_of,
)


def clear_caches():
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that touches a file of a plugin, and returns the classes whose digests changed."""
    folder = tmp_path / "somebody"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    made = [
        type(name, (), {"__module__": f"somebody.{name.lower()}"}) for name in ("Alpha", "Beta")
    ]
    clear_caches()

    def touched(name):
        before = [source_digests.digests(cls) for cls in made]
        with (folder / name).open("a") as file:
            file.write("# more\n")
        clear_caches()
        pairs = zip(made, before, strict=True)
        return {cls.__name__ for cls, old in pairs if source_digests.digests(cls) != old}

    yield touched
    clear_caches()


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("alpha.py", {"Alpha"}),
        ("beta.py", {"Beta"}),
        ("base.py", {"Alpha", "Beta"}),
        ("kernels/inner.py", {"Beta"}),
        ("kernels/__init__.py", {"Beta"}),
        ("unused.py", set()),
        ("__init__.py", set()),
    ],
)
def test_touching_a_file_changes_those_that_reach_it(plugin, file, changed):
    assert plugin(file) == changed
    assert "somebody" not in sys.modules or file != "alpha.py"  # parsed, never imported


@pytest.mark.wide
def test_what_imports_by_computed_names_depends_on_its_whole_package(plugin, tmp_path):
    (tmp_path / "somebody" / "alpha.py").write_text("from importlib import import_module\n")
    clear_caches()
    assert plugin("unused.py") == set()
    (tmp_path / "somebody" / "alpha.py").write_text(
        "import importlib\nimportlib.import_module(x)\n"
    )
    clear_caches()
    assert plugin("unused.py") == {"Alpha"}


def test_import_orthobench_reaches_all_makers_of_instances():
    assert {
        "orthobench.families.second_moments",
        "orthobench.tools.geometry",
    } <= source_digests.reached("orthobench")


def test_no_key_depends_on_the_report_the_store_or_the_command_line():
    catalogue = ob.catalogue()
    provided = [*catalogue.solvers.values(), *catalogue.problems.values()]
    homes = {one.item.__module__ for one in provided}
    core = {m.split(".")[1] for m in source_digests.reached(source_digests.RUN)}
    assert core == {"contract", "errors", "harness", "tools"}
    for home in homes:
        found = {m for m in source_digests.reached(home) if m.startswith("orthobench.")}
        assert {m.split(".")[1] for m in found} <= BELOW
        assert home in source_digests.reached(home)


def test_a_problem_does_not_depend_on_the_problem_next_door():
    problems = ob.catalogue().problems
    digits = source_digests.reached(problems["digits"].item.__module__)
    assert problems["brockett"].item.__module__ not in digits
    assert "orthobench.families.sparse_pca" not in digits
    assert "orthobench.families.second_moments" in digits


def test_a_class_without_a_file_is_known_by_its_module():
    found = source_digests.digests(int)
    assert list(found) == ["orthobench", "builtins"]
    assert found["orthobench"] == source_digests.digests()["orthobench"]
