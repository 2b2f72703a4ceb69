"""The files of `orthobench plugin new`, and its refusals."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib import import_module

import pytest
from hypothesis import example, given
from texts import texts

import orthobench as ob
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, catalogue
from orthobench.registry.scaffold import (
    LONGEST,
    families,
    names_of,
    render,
    templates_of,
    write,
    write_ci,
)
from orthobench.registry.suite_file import load
from orthobench.testing import CheckStatus
from orthobench.testing.cases import Asked, cases
from orthobench.tools.formatting import clean

NAMES = names_of("orthobench-toy-method")
LONG = "long-" + "a" * (LONGEST - 5)
FAMILIES = {
    "canonical-correlation": 1e-12,
    "eigenbasis-stream": 0.1,
    "generalized-eigenvectors": 1e-9,
    "orthogonal-group": 1e-12,
    "orthogonal-tensor": 1e-12,
    "own": 1e-12,
    "pca": 1e-12,
    "polar-factor": 1e-12,
    "sparse-pca": 0.75,
    "stiefel-manifold": 0.3,
    "stochastic-pca": 0.02,
    "symmetric-tucker": 0.02,
    "training": 1.0,
}
"""Maximum gap of the method of each family, with its defaults."""


def template(family="stochastic-pca"):
    return templates_of(family, catalogue())


def tree(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_all_names_come_from_that_of_the_distribution():
    names = [
        ["orthobench-toy-method", "orthobench_toy_method", "toy-method", "ToyMethod"],
        ["Orthobench_Toy.Method", "orthobench_toy_method", "toy-method", "ToyMethod"],
        ["fast-pca2", "fast_pca2", "fast-pca2", "FastPca2"],
        ["orthobench-none", "orthobench_none", "none", "NoneMethod"],
        ["orthobench-2d-oja", "orthobench_2d_oja", "2d-oja", "The2dOja"],
    ]
    assert [list(names_of(name).values()) for name, *_ in names] == names


def test_a_name_that_no_plugin_can_have_is_refused():
    for name, said in (
        ("", "cannot be the name"),
        ("2d-oja", "a letter first"),
        ("a--b", "single hyphens"),
        ("oja-", "cannot be the name"),
        ("../oja", "cannot be the name"),
        ("öja", "cannot be the name"),
        ("a" * (LONGEST + 1), f"at most {LONGEST}"),
        ("numpy", "would hide another; another name is orthobench-numpy"),
        ("random", "would hide another"),
        ("lambda", "would hide another"),
        ("orthobench", "cannot be the name"),
        ("tests", "would hide another"),
    ):
        with pytest.raises(UsageError, match=said):
            names_of(name)


@pytest.mark.parametrize("name", ["orthobench-toy-method", LONG, "ab"])
def test_every_file_is_valid_and_nothing_is_left_to_fill_in(name):
    names = names_of(name)
    files = render(names, template(), "Ada")
    assert f"src/{names['package']}/{names['plugin']}-comparison.toml" in files
    assert len(files) <= 7
    for path, text in files.items():
        assert not re.search("@[a-z]+@", text)
        if path.endswith(".py"):
            ast.parse(text)
        if path.endswith(".toml"):
            tomllib.loads(text)
    project = tomllib.loads(files["pyproject.toml"])
    assert project["project"]["name"] == name
    assert project["project"]["entry-points"]["orthobench"] == {names["plugin"]: names["package"]}


def test_linters_find_nothing(tmp_path):
    pytest.importorskip("ruff")
    for name in (LONG, "ab", "orthobench-zebra"):
        for family, folder in families(catalogue()).items():
            write(render(names_of(name), folder, "Ada"), tmp_path / "made" / name / family)
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--no-cache", "."],
            cwd=tmp_path / "made", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


@given(author=texts().filter(bool))
@example(author='"]\x7f\nversion = "666"\x1b[2J\u202e\\')
def test_any_author_is_written_as_toml(author):
    project = tomllib.loads(render(NAMES, template(), author)["pyproject.toml"])
    seen = clean(author) or "The orthobench-toy-method developers"
    assert project["project"]["authors"] == [{"name": seen}]


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_an_existing_place_stays_as_it_is(tmp_path, kind):
    place = tmp_path / "place"
    if kind == "folder":
        place.mkdir()
        (place / "mine.txt").write_text("mine")
    elif kind == "file":
        place.write_text("mine")
    else:
        place.symlink_to(tmp_path / "nowhere")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="exists already"):
        write(render(NAMES, template(), "Ada"), place)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_a_gate_comes_with_a_plugin_and_into_any_project(tmp_path, ci):
    write(render(NAMES, template(), "Ada", ci), tmp_path / "plugin")
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "pyproject.toml").touch()
    write_ci(tmp_path / "library", ci)
    plugin, library = tree(tmp_path / "plugin"), tree(tmp_path / "library")
    assert set(plugin) - set(render(NAMES, template(), "Ada")) == {*library[:-1], "gate.toml"}
    for name in library[:-1]:
        text = (tmp_path / "plugin" / name).read_text()
        assert text == (tmp_path / "library" / name).read_text()
    with pytest.raises(UsageError, match=r"has no pyproject\.toml"):
        write_ci(tmp_path, ci)


def test_gates_of_two_systems_replace_no_other_file(tmp_path):
    (tmp_path / "pyproject.toml").touch()
    for ci in ("github", "gitlab", "github"):
        write_ci(tmp_path, ci)
    (tmp_path / "gate.sh").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        write_ci(tmp_path, "gitlab")
    assert (tmp_path / "gate.sh").read_text() == "mine"


def test_every_family_of_the_catalogue_has_a_scaffold():
    known = {provided.item.family for provided in catalogue().problems.values()}
    assert {family.lower().replace(" ", "-") for family in known} | {"own"} == set(FAMILIES)
    assert families(catalogue()).keys() == FAMILIES.keys()
    assert templates_of("Polar factor", catalogue()).name == "polar-factor"
    with pytest.raises(UsageError, match=r"did you mean 'polar-factor'.*--family own writes one"):
        templates_of("polar-facto", catalogue())


@pytest.mark.wide
@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_gets_a_method_that_passes_and_solves(family, tmp_path, monkeypatch):
    names = names_of(f"toy-{family}")
    write(render(names, template(family), "Ada"), tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "src")
    here = catalogue()
    registry = replace(here.extended(), plugins=dict(here.plugins), suites=dict(here.suites))
    registry.add(
        import_module(names["package"]), Plugin(names["plugin"], names["distribution"], "0.1.0")
    )
    results = [case.result() for case in cases(Asked(names["plugin"]), registry)]
    assert [result for result in results if result.status is CheckStatus.FAILED] == []
    assert sum(result.status is CheckStatus.PASSED for result in results) >= 14

    suite = load(registry.suite(f"{names['plugin']}-comparison"), registry)
    for planned in suite.problems:
        solver = registry.solvers[names["plugin"]].item()
        outcome = ob.solve(solver, planned.problem, budget=planned.budget)
        assert outcome.trace[-1].metrics[planned.problem.primary] < FAMILIES[family]
    for planned in suite.solvers:
        assert all(planned.solver.refuses(p.problem) is None for p in suite.problems)


@pytest.mark.slow
def test_the_types_of_scaffolds_hold(tmp_path):
    pytest.importorskip("mypy")
    folders = []
    for family, folder in families(catalogue()).items():
        texts = render(names_of(f"toy-{family}"), folder, "Ada")
        for path in write(texts, tmp_path / family):
            assert "type: ignore" not in path.read_text()
        folders.append(tmp_path / family / "src")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", *folders, tmp_path / "own" / "tests"],
        cwd=tmp_path, env=os.environ | {"MYPYPATH": os.pathsep.join(map(str, folders))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
