import os
import re
import sys
from dataclasses import dataclass

import numpy as np
import pytest

from orthobench.errors import UsageError
from orthobench.registry.entries import SuiteError, class_in, entries, specification
from orthobench.registry.plugins import Registry


def test_values_of_a_specification_are_toml_or_else_strings():
    entry = specification("oja step=0.5 k=[1,2] path='a b.npy' mode=fast flag=true at=a=b none=")
    assert entry == {
        "name": "oja", "step": 0.5, "k": [1, 2], "path": "a b.npy", "mode": "fast", "flag": True,
        "at": "a=b", "none": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("oja step", "cannot read 'step' in 'oja step'"),
        ("oja 'step=1", "No closing quotation"),
        (3, "is a string NAME key=value ..., not 3"),
    ],
)
def test_a_malformed_specification_is_refused(text, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        specification(text)


@pytest.fixture
def known(toys):
    return toys.registry.extended()


def test_entries_of_all_kinds_become_tables(toys, known):
    solvers = [toys.Solver, toys.Solver(step_size=0.5), "power fault=raise", {"name": "power"}]
    assert entries("leading-subspace", "problem", known) == [{"name": "leading-subspace"}]
    assert entries(solvers, "solver", known) == [
        {"name": "power"}, {"name": "power", "step": 0.5}, {"name": "power", "fault": "raise"},
        {"name": "power"},
    ]  # fmt: skip


def test_two_classes_of_one_name_are_refused_at_the_second(toys, known):
    one, two = (
        dataclass(frozen=True)(type(name, (toys.Solver,), {"name": "same"})) for name in "AB"
    )
    with pytest.raises(SuiteError, match="another class is called 'same' too") as caught:
        entries([one, one, two], "solver", known)
    assert caught.value.path == ("solver", 2)


def test_instances_of_one_shape_are_numbered_from_the_second(toys, known):
    instances = [toys.Problem().build(np.random.default_rng(0)) for _ in range(3)]
    labels = ["toys n=6 k=2", "toys n=6 k=2 #2", "toys n=6 k=2 #3"]
    found = entries(instances, "problem", known)
    assert found == [{"name": label, "label": label} for label in labels]
    assert [known.problem(label).instance for label in labels] == instances


OWN_FILE = "class One:\n    size = {}\n\n\nclass Two:\n    pass\n"


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    path = tmp_path / f"my_{tmp_path.name}.py"  # a name that no other test has
    path.write_text(OWN_FILE.format(1))
    yield path
    sys.modules.pop(path.stem, None)


def test_a_class_is_loaded_again_when_its_file_changes(file):
    first = class_in(f"{file}:One")
    assert first.size == 1
    assert class_in(f"{file}:One") is first
    assert sys.path[-1] == str(file.parent)
    assert sys.path.count(str(file.parent)) == 1
    file.write_text(OWN_FILE.format(22))
    os.utime(file, ns=(0, 0))
    assert class_in(f"{file.name}:One", file.parent).size == 22


@pytest.mark.parametrize("line", ["1 / 0", "raise SystemExit(3)", "import no_such_module"])
def test_a_file_that_cannot_be_imported_is_named_with_its_line(file, line):
    file.write_text(f"x = 1\n{line}\n")
    with pytest.raises(UsageError, match=rf"cannot import {file.name}: .*{file.name}, line 2\)"):
        class_in(f"{file}:One")


def test_missing_files_and_classes_are_named(file):
    with pytest.raises(UsageError, match=rf"unknown class or function in {file.name}: .*'One'"):
        class_in(f"{file}:Onee")
    with pytest.raises(UsageError, match=r"there is no file .*nowhere\.py"):
        class_in("nowhere.py:One", file.parent)
    with pytest.raises(UsageError, match=r"files of its own folder, not \.\./a\.py"):
        class_in("../a.py:One", file.parent)


def test_file_whose_name_is_no_module_name_is_refused(file):
    other = file.with_name("not-a-name.py")
    other.write_text(OWN_FILE.format(1))
    with pytest.raises(UsageError, match=other.name):
        class_in(f"{other}:One")


def test_a_file_does_not_stand_for_another_of_its_name(tmp_path, monkeypatch):
    folders = [tmp_path / name for name in "az"]
    for folder in folders:
        folder.mkdir()
        (folder / "twice_there.py").write_text("class One: ...\n")
    for first, second in (folders, folders[::-1]):
        monkeypatch.setattr(sys, "path", [*sys.path, str(first)])
        with pytest.raises(UsageError, match=f"which is that of {first}"):
            class_in(f"{second / 'twice_there.py'}:One")
        monkeypatch.undo()


def test_an_unknown_name_lists_broken_plugins(toys):
    with pytest.raises(UsageError, match="a solver is named by a str, not by 3"):
        toys.registry.solver(3)
    with pytest.raises(UsageError) as caught:
        Registry(broken={"b": "why", "a": "why"}).problem("power")
    assert "plugins that failed to load: a, b;" in str(caught.value)
    with pytest.raises(UsageError) as caught:
        Registry().problem("power")
    assert "failed" not in str(caught.value)


def test_a_class_of_ones_own_replaces_itself_only(toys):
    known = toys.registry.extended()
    one, two = (
        dataclass(frozen=True)(type(name, (toys.Problem,), {"name": "own"})) for name in "AB"
    )
    assert [known.register(cls) for cls in (one, two, toys.Problem)] == ["own"] * 2 + [
        "leading-subspace"
    ]
    assert known.problems["own"].item is two
    taken = dataclass(frozen=True)(type("C", (toys.Problem,), {}))
    with pytest.raises(UsageError, match="C has the name of problem 'leading-subspace' of plugin"):
        known.register(taken)
