"""What sparse PCA poses: the penalized objective, its unit, levels, and loadings elsewhere."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle, SparseSolution
from orthobench_sparse_pca.loadings import solve_for_z
from orthobench_sparse_pca.oracle import UNDELIVERED, settled

from orthobench.contract.parameters import parameter
from orthobench.contract.problem import Solution
from orthobench.errors import DataError
from orthobench.tools.flops import svd
from orthobench.tools.geometry import random_point, unit_columns
from orthobench.tools.places import place_of


def data(d=9, n=7, seed=0):
    return np.random.default_rng(seed).standard_normal((d, n)) * np.linspace(3, 1, d)[:, None]


def loadings(d, m, seed=1):
    Z = np.random.default_rng(seed).standard_normal((d, m))
    return unit_columns(np.where(np.abs(Z) > 0.7, Z, 0.0))


@pytest.mark.parametrize("gamma", [None, 0.0, 0.8])
def test_the_objective_is_the_penalty_less_the_nuclear_norm_of_the_scores(gamma):
    A, Z = data(), loadings(9, 3)
    oracle = SparsePCAOracle(A, 3)
    value, work = oracle.objective(SparseSolution(Z, gamma=gamma))
    expected = (gamma or 0) * np.abs(Z).sum() - np.linalg.norm(A.T @ Z, "nuc")
    assert value * oracle.unit == pytest.approx(expected)
    assert (work.flops, work.samples, work.steps) == (2 * 7 * 9 * 3 + svd(7, 3), 0, 0)
    assert oracle.objective(Solution(Z))[0] == oracle.objective(SparseSolution(Z, gamma=None))[0]


def test_the_objective_is_the_same_elsewhere():
    A, Z = data(), loadings(9, 3)
    there = SparsePCAOracle(A, 3).to(place_of("array-api-strict"))
    solution = SparseSolution(there.placed(Z), gamma=0.5)
    here = SparsePCAOracle(A, 3).objective(SparseSolution(Z, gamma=0.5))
    assert there.objective(solution)[0] == pytest.approx(here[0])
    assert there.longest == SparsePCAOracle(A, 3).longest


def test_the_unit_is_the_next_power_of_two_beyond_the_longest_row():
    for length, unit in ((1.0, 2.0), (0.99, 1.0), (3e-100, None), (5.0, 8.0)):
        oracle = SparsePCAOracle(np.array([[length, 0.0], [0.0, length / 2]]), 1)
        assert oracle.longest == length
        assert oracle.unit > length >= oracle.unit / 2
        assert unit in (None, oracle.unit)


@pytest.mark.parametrize(
    ("entry", "message"),
    [(0.0, "their squares underflow"), (1e200, "or too large"), (math.nan, "not finite")],
)
def test_data_without_a_unit_are_refused(entry, message):
    with np.errstate(all="ignore"), pytest.raises(DataError, match=message):
        _ = SparsePCAOracle(np.full((2, 2), entry), 1).unit


def test_the_stream_of_samples_is_that_of_its_oracle():
    A = data()
    oracle = SparsePCAOracle(A, 2, passes=2, order=np.array([3, 1, 0, 2, 6, 5, 4]))
    oracle.rewind(np.random.default_rng(0))
    oracle.prepare(9)
    assert oracle.remaining() == 14
    np.testing.assert_array_equal(oracle.take(9), A.T[[3, 1, 0, 2, 6, 5, 4, 3, 1]])
    assert (oracle.taken, oracle.remaining(), oracle.samples) == (9, 5, 7)
    for order in ([0, 1], [*range(7), 0]):
        with pytest.raises(DataError, match=f"all 7 samples, and names {len(order)}"):
            SparsePCAOracle(A, 2, order=np.array(order))


@dataclass(frozen=True)
class Planted(SparsePCA):
    name: ClassVar[str] = "planted"
    m: int = parameter(2, help="components")
    cardinality: int | None = parameter(None, help="loadings")

    def build(self, rng):
        raise NotImplementedError

    @property
    def samples(self):
        return None


@dataclass(frozen=True)
class Penalized:
    gamma: float = 0.1


def test_solvers_are_compared_at_what_was_asked_for_or_at_levels_of_density():
    assert Planted(cardinality=3).at == {UNDELIVERED: (0.0,)}
    assert [*Planted().at] == ["density"]


def test_a_penalty_of_ones_own_is_settled_where_a_cardinality_is_asked_for():
    assert settled(Penalized(0.2), Planted(), "gamma") is None
    assert settled(Penalized(0.1), Planted(cardinality=3), "gamma") is None
    assert "gamma has no effect" in settled(Penalized(0.2), Planted(cardinality=3), "gamma")
    assert settled(Penalized(0.2), object(), "gamma") is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_loadings_elsewhere_are_those_of_numpy(weighted, started):
    strict = pytest.importorskip("array_api_strict")
    A = data(8, 6)
    pattern = np.random.default_rng(2).random((8, 3)) < 0.5
    pattern[:, 2] &= np.arange(8) < 3
    more = {}
    if weighted:
        more["mu"] = np.array([3.0, 2.0, 1.0])
    if started:
        more["start"] = random_point(6, 3, np.random.default_rng(4))
    here = solve_for_z(A, pattern, **more)
    there = solve_for_z(
        strict.asarray(A), strict.asarray(pattern),
        **{name: strict.asarray(value) for name, value in more.items()},
    )  # fmt: skip
    np.testing.assert_allclose(np.asarray(there), here, atol=1e-4)
    np.testing.assert_array_equal(np.asarray(there) == 0, here == 0)
