"""Default runs do not depend on units, coordinates, the order of columns, or the origin.

Every solver runs on a small instance of each of its families, and again with data or cost times c,
in other coordinates, with columns of the start in another order, or with data or cost moved by a
constant. The points must agree up to rounding.
"""

from functools import cache, partial

import numpy as np
import pytest
from scipy.linalg import block_diag
from small_instances import (
    CASES,
    CHAOTIC,
    FAMILIES,
    MIXED,
    SAMPLE,
    SAMPLES,
    budget,
    compared,
    made,
    orthogonal_group,
    stiefel,
)

import orthobench as ob
from orthobench.harness import execution
from orthobench.tools.geometry import random_point

ABSOLUTE = dict.fromkeys(
    ("geoopt-sgd", "geoopt-adam", "pogo-torch", "torch-orthogonal"),
    "its steps are absolute, as users of torch take them",
) | {"torch-muon": "it adds 1e-7 to the norm"}
"""Solvers of torch that depend on the unit, and why."""


def check_units(solver, family, first, *scales):
    """Compare runs in several units; Tucker decompositions refuse powers that overflow."""
    if solver in ABSOLUTE:
        pytest.skip(ABSOLUTE[solver])
    plain = plain_run(solver, partial(made, family, c=first))
    for c in scales:
        try:
            scaled = ob.solve(solver, made(family, c=c), budget(solver), seed=0).solution
        except ob.DataError:
            assert family.startswith("tucker")
            assert not 1e-24 < c < 1e24
            continue
        assert np.abs(compared(scaled, family) - compared(plain, family)).max() <= CHAOTIC, c


@pytest.mark.parametrize(("solver", "family"), CASES[::SAMPLE])
def test_a_default_run_of_some_does_not_depend_on_the_unit(solver, family):
    check_units(solver, family, 1.0, 1e-6, 1e6)


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), CASES)
def test_a_default_run_does_not_depend_on_the_unit(solver, family):
    # a tolerance that is not relative parts the ends; a Tucker decomposition may refuse them
    between = (1e-6, 1e6) if family.startswith("tucker") else ()
    check_units(solver, family, *between, 1e-100, 1e100)


def coordinates(family):
    """Return R of a family: a rotation, of cca one for each side."""
    rng = np.random.default_rng(1)
    blocks = [
        # what is sparse in some coordinates is not in others; a permutation is a rotation
        np.eye(m)[rng.permutation(m)] if family == "sparse-pca" else random_point(m, m, rng)
        for m in FAMILIES[family][0]
    ]
    return block_diag(*blocks)


PLAIN = {family: partial(made, family) for family in FAMILIES}
"""The instances as they are."""

TURNED = [family for family, (sizes, _) in FAMILIES.items() if sizes]

UNORDERED = {
    "stiefel": lambda: stiefel(np.eye(8), 1.0, weights=np.ones(3)),
    **{
        name: PLAIN[name]
        for name in (
            "components", "pca", "stochastic-pca", "orthogonal-tensor", "cca", "pencil", "tucker",
            "tucker-of-samples",
        )
    },
}  # fmt: skip
"""Instances for which the order of the columns of a point makes no difference."""

MOVED = {
    "stiefel": lambda: stiefel(np.eye(8), 1.0, moved=0.5),
    "orthogonal-group": lambda: orthogonal_group(np.eye(8), 1.0, moved=0.5),
    "pca": lambda: ob.pca(SAMPLES + 0.5, 2),
    "cca": lambda: ob.cca(SAMPLES + 0.5, MIXED - 0.5, 2),
}
"""Instances whose cost or data are moved by a constant, which makes no difference."""


def run(solver, instance, monkeypatch, start):
    monkeypatch.setattr(execution, "random_point", lambda *given: start(random_point(*given)))
    return ob.solve(solver, instance, budget(solver), seed=0).solution


@cache
def plain_run(solver, make):
    """Return the point of a run on an instance as it is, with which several tests compare."""
    try:
        return ob.solve(solver, make(), budget(solver), seed=0).solution
    except ob.UsageError as refusal:
        pytest.skip(str(refusal))


def unordered(point, family):
    """Return what does not depend on the order of columns, nor on their signs."""
    square = point.shape[0] == point.shape[1]
    return point**3 @ point.T if square else compared(point, family)


EXCEPTIONS = {
    ("random-submanifold", "stiefel"): "draws coordinates",
    ("random-submanifold", "orthogonal-group"): "draws coordinates",
    ("random-submanifold", "components"): "draws coordinates",
    ("tensorly-power-iteration", "orthogonal-tensor"): "draws its own starts",
    ("randomized-joint-diagonalization", "orthogonal-tensor"): "draws directions",
    ("subspace-power", "orthogonal-tensor"): "draws its own starts",
    ("khatri-rao-sketch", "tucker-of-samples"): "draws a sketch",
    ("pencil-landing", "pencil"): "steps by sums of columns, which bound the norms of A and B",
    ("sklearn-cca", "cca"): "begins at the first column of y, and ends early",
    ("cp-adam", "tucker-of-samples"): "Adam scales each coordinate",
    ("torch-muon", "polar"): "rounds to bfloat16",
}
"""Solver and family, and why it may depend on coordinates."""

EACH = "steps or eigenvalues of single columns, which a QR decomposition mixes in their order"
ORDERED = {
    ("ada-oja", "stochastic-pca"): EACH,
    ("ada-oja", "tucker-of-samples"): EACH,
    ("history-pca", "stochastic-pca"): EACH,
    ("history-pca", "tucker-of-samples"): EACH,
    ("spgd", "tucker-of-samples"): EACH,
    ("shoevd", "tucker-of-samples"): EACH,
    ("gamma-eigengame", "cca"): "each column plays against those before it",
    ("givens-tensor", "orthogonal-tensor"): "rotates pairs of columns in turn",
    ("tensor-power", "orthogonal-tensor"): "deflates",
    ("geoopt-adam", "stiefel"): "a factorization in the order of columns",
}
"""Solver and family, and why it may depend on the order of columns."""


def cases(families, exceptions, sample=1):
    """Return the cases of some families; the default tests take one of `sample`."""
    chosen = [case for case in CASES if case[1] in families]
    return [
        pytest.param(
            *case,
            marks=[
                *([pytest.mark.xfail(reason=exceptions[case])] if case in exceptions else []),
                *([pytest.mark.wide] if i % sample else []),
            ],
            id=" ".join(case),
        )
        for i, case in enumerate(chosen)
    ]


@pytest.mark.parametrize(("solver", "family"), cases(TURNED, EXCEPTIONS, SAMPLE))
def test_coordinates_do_not_matter(solver, family, monkeypatch):
    R = coordinates(family)
    plain = plain_run(solver, PLAIN[family])
    turned = R @ run(solver, made(family, R), monkeypatch, lambda X: R.T @ X)
    assert np.abs(compared(turned, family) - compared(plain, family)).max() <= CHAOTIC


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), cases(UNORDERED, ORDERED))
def test_the_order_of_columns_does_not_matter(solver, family, monkeypatch):
    plain = plain_run(solver, UNORDERED[family])
    moved = run(solver, UNORDERED[family](), monkeypatch, lambda X: np.roll(X, 1, axis=1))
    assert np.abs(unordered(moved, family) - unordered(plain, family)).max() <= CHAOTIC


@pytest.mark.wide
@pytest.mark.parametrize(("solver", "family"), cases(MOVED, {}))
def test_a_constant_beside_cost_or_data_does_not_matter(solver, family, monkeypatch):
    plain = plain_run(solver, PLAIN[family])
    moved = run(solver, MOVED[family](), monkeypatch, lambda X: X)
    assert np.abs(compared(moved, family) - compared(plain, family)).max() <= CHAOTIC
