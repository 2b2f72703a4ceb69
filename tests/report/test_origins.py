"""Methods say paper, code and licence: the metadata of the library that they call, or their own."""

from importlib import metadata

import pytest

from orthobench.contract.solver import Solver
from orthobench.registry.plugins import catalogue
from orthobench.report.origins import origin_lines, origins


def wrapping(library, **own):
    return type("Wrapped", (Solver,), {"packages": (library,), "source": "s", **own})


def test_library_that_is_installed_gives_its_code_and_licence():
    told = metadata.metadata("numpy")
    found = origins(wrapping("numpy"))
    assert found["code"] in str(told)
    assert found["code"].startswith("https://")
    assert found["licence"]
    assert found["licence"] in str(told)


def test_own_words_of_a_solver_win():
    own = {"doi": "10.1/x", "code": "https://example.org", "licence": "MIT"}
    assert origins(wrapping("numpy", **own)) == {"source": "s", **own}


def test_library_that_is_absent_leaves_code_and_licence_open():
    assert origins(wrapping("no-such-distribution"))["code"] == ""


@pytest.mark.parametrize("name", ["scipy-svds", "scipy-eigsh", "torch-eigh", "geoopt-adam"])
def test_wrapped_method_names_the_paper_of_its_library(name):
    doi = origins(catalogue().solvers[name].item)["doi"]
    assert doi.startswith("10.")
    assert doi in origin_lines([name, "unknown"])[name]


def test_method_of_a_paper_names_it_and_the_module_of_its_code():
    solver = catalogue().solvers["ccipca"].item
    line = origin_lines(["ccipca"])["ccipca"]
    assert line == f"{solver.source}; {solver.__module__}"
