"""The flops of an evaluation, against the operations that it does."""

import numpy as np
import pytest
from orthobench_stiefel.problems.assignment import QuadraticAssignment
from orthobench_stiefel.problems.brockett import StiefelBrockett
from orthobench_stiefel.problems.diagonalization import JointDiagonalization
from orthobench_stiefel.problems.ica import ICA
from orthobench_stiefel.problems.network import OrthogonalNetwork
from orthobench_stiefel.problems.orthogonal_brockett import Brockett
from orthobench_stiefel.problems.orthogonal_procrustes import Procrustes
from orthobench_stiefel.problems.procrustes import StiefelProcrustes, StiefelProcrustesBatch
from orthobench_stiefel.problems.rotation import WeightRotation

from orthobench.testing import counted, counting
from orthobench.tools.geometry import random_point

PROBLEMS = [
    StiefelBrockett(n=12, p=4),
    StiefelProcrustes(n=10, p=3, rows=25),
    StiefelProcrustesBatch(matrices=3, n=7, p=2, rows=9),
    QuadraticAssignment(n=6),
    JointDiagonalization(n=6, matrices=4),
    WeightRotation(n=8, rows=30),
    ICA(n=4, samples=300),
    Brockett(n=5),
    Procrustes(n=5, rows=9),
]
OMITTED = {
    (QuadraticAssignment, "gradient"): 2 * 6**2,
    (JointDiagonalization, "gradient"): 4 * 6**2,
    (JointDiagonalization, "value_and_gradient"): 4 * 6**2,
    (WeightRotation, "value_and_gradient"): 30 * 8,
    (Brockett, "value"): 2 * 5,
    (Brockett, "value_and_gradient"): 2 * 5,
}
"""Operations of lower order that formulae leave out, or that two ways to the same number differ by;
of the others it is one for each column, and one."""


def spent(call, *given):
    with counting() as tally:
        call(*given)
        return tally.flops


def built(problem):
    oracle = problem.build(np.random.default_rng(0)).oracle
    oracle.start = random_point(oracle.n, oracle.k, np.random.default_rng(1))
    return oracle


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
@pytest.mark.parametrize(
    ("method", "said"),
    [("value", "cost_flops"), ("gradient", "gradient_flops"), ("value_and_gradient", "both_flops")],
)
def test_an_evaluation_costs_what_the_oracle_says(problem, method, said):
    oracle = built(problem)
    found = spent(getattr(oracle, method), counted(oracle.start.copy()))
    omitted = OMITTED.get((type(problem), method), oracle.k + 1)
    assert abs(found - getattr(oracle, said)) <= omitted


@pytest.mark.parametrize(
    "problem",
    [StiefelProcrustes(n=10, p=3, rows=25), WeightRotation(n=8, rows=30),
     JointDiagonalization(n=6, matrices=4)],
    ids=lambda problem: problem.name,
)  # fmt: skip
def test_terms_cost_their_part_of_the_gradient(problem):
    oracle = built(problem)
    assert oracle.terms * oracle.term_flops == pytest.approx(oracle.gradient_flops, rel=0.01)
    few, many = (
        spent(oracle.terms_gradient, counted(oracle.start.copy()), np.arange(count) % 4)
        for count in (4, 12)
    )
    assert (many - few) / 8 == pytest.approx(oracle.term_flops, rel=0.03)


def test_a_network_costs_what_it_says_up_to_lower_order():
    oracle = built(OrthogonalNetwork(p=12))
    for method, said in (("value", oracle.cost_flops), ("gradient", oracle.gradient_flops)):
        found = spent(getattr(oracle, method), counted(oracle.start.copy()))
        assert found == pytest.approx(said, rel=0.005)


@pytest.mark.parametrize(
    ("problem", "rows"),
    [(ICA(n=4, samples=300), 300), (Brockett(n=5), 2 * 5), (Procrustes(n=5), 5)],
)
def test_a_rotation_costs_six_flops_a_row_of_what_is_carried(problem, rows):
    oracle = built(problem)
    assert oracle.rotation_flops == 6 * rows
    assert spent(oracle.carry, counted(oracle.start.copy())) == oracle.carry_flops
