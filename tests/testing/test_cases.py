"""Packages checked: on the command line, and in pytest."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner
from orthobench_stochastic_pca._kernels.projection import shift

from orthobench.cli.main import main
from orthobench.errors import UsageError
from orthobench.registry.plugins import Plugin, Registry, catalogue
from orthobench.testing import cases
from orthobench.testing.checks_of_solvers import CHECKS

pytest_plugins = ["pytester"]


@pytest.fixture
def command(monkeypatch):
    def called(*words, registry=None):
        if registry is not None:  # which no other process has

            def here(asked, limit):
                found = cases.cases(asked, registry)
                return (cases.facts(case, case.result()) for case in found)

            monkeypatch.setattr("orthobench.registry.plugins.catalogue", lambda: registry)
            monkeypatch.setattr("orthobench.testing.in_child.checked", here)
        return CliRunner().invoke(main, ["plugin", "check", *words])

    return called


@pytest.mark.parametrize("name", ["tensor-power", "orthobench_tensor_power", "Tensor_Power"])
def test_a_package_is_meant_by_plugin_or_module(name):
    names = {case.name for case in cases.cases(cases.Asked(name), catalogue())}
    own = {"tensor-power", "polar-power", "subspace-power"}
    assert names == own


def test_an_unknown_package_suggests_the_nearest(command):
    result = command("tensor-powr")
    assert result.exit_code == 2
    assert "did you mean 'tensor-power'" in result.output
    assert "project.entry-points.orthobench" in result.output


def test_a_broken_plugin_says_why():
    registry = Registry(broken={"mine": "ImportError: no module named nonsense"})
    with pytest.raises(UsageError, match="plugin 'mine' does not load: ImportError: no module"):
        cases.plugins_of("mine", registry)


def test_a_package_that_passes(command):
    result = command("tensor-power")
    assert result.exit_code == 0, result.output
    passed, made = re.search(r"tensor-power \(solver\): (\d+) of (\d+)", result.output).groups()
    assert int(passed) == int(made) - 1
    assert "    flops: not checkable: its arithmetic is done in kernels" in result.output
    *_, counts, advice = result.stdout.splitlines()
    assert re.fullmatch(r"\d+ checks: \d+ pass, 0 fail, 2 not checkable", counts)
    assert advice.startswith("next: orthobench run")


@pytest.mark.usefixtures("impatient")
def test_a_new_family_is_checked_on_its_own_problem(toys, command):
    result = command("toys", "--json", registry=toys.registry)
    facts = json.loads(result.output)
    solver = [fact for fact in facts if fact["kind"] == "solver"]
    assert "not checkable" not in {fact["status"] for fact in solver}
    assert {fact["name"] for fact in facts if fact["kind"] == "problem"} == {
        "leading-subspace", "pictured",
    }  # fmt: skip


def test_a_fault_is_printed_with_its_remedy_and_prints_are_not(toys, command):
    class Loud(toys.Problem):
        name = "loud"

        def build(self, rng):
            print("building")  # noqa: T201 - the fault
            return super().build(rng)

    class Brings:
        @staticmethod
        def orthobench_problems():
            return [Loud]

    registry = Registry()
    registry.add(_hooked(Brings), Plugin("loud-plugin"))
    result = command("loud-plugin", registry=registry)
    assert result.exit_code == 1
    assert "silent: FAILED: it prints 'building'. Print nothing" in result.output
    assert "building\n" not in result.output


def test_a_name_that_another_plugin_brings_fails(toys, command):
    class Brings:
        @staticmethod
        def orthobench_problems():
            return [toys.Problem]

    registry = Registry()
    for name in ("one", "two"):
        registry.add(_hooked(Brings), Plugin(name))
    for name in ("one", "two"):
        result = command(name, registry=registry)
        assert result.exit_code == 1
        assert "leading-subspace (problem): 0 of 1 checks pass" in result.output
        assert "both bring problem 'leading-subspace'; one of them" in result.output


def _hooked(cls):
    from orthobench.contract import hookimpl

    hookimpl(cls.orthobench_problems)
    return cls


TEST = """
    import pytest
    from orthobench_tensor_power.solvers.polar_power import PolarPower

    @pytest.mark.conformance(PolarPower(start="identity"))
    def test_conformance(conformance):
        conformance()
"""


@pytest.fixture(scope="module")
def kernels():
    """Loads Numba, which can be loaded only once: runs inside forget the modules that they load."""
    shift(np.ones(2), 1.0)


@pytest.mark.usefixtures("kernels", "impatient")
def test_pytest_has_a_test_for_each_check(pytester):
    pytester.makepyfile(TEST)
    result = pytester.runpytest_inprocess(
        "-v", "-p", "orthobench.testing.pytest_plugin", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(passed=len(CHECKS), skipped=1)
    result.stdout.fnmatch_lines(
        ["*::test_conformance?polar-power start=identity-chunking? PASSED*"]
    )
