"""Which starts the solvers of whole tensors refuse, and when."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from orthobench_tucker import GivenTensorOracle, MomentOracle, SymmetricTucker, TuckerOracle
from orthobench_tucker.solvers.hooi import HOOI
from orthobench_tucker.solvers.hoqri import HOQRI
from orthobench_tucker.solvers.jacobi_tucker import JacobiTucker
from orthobench_tucker.solvers.pgd import PGD
from orthobench_tucker.solvers.quasi_newton import QuasiNewton
from orthobench_tucker.solvers.trust_region import TrustRegion
from orthobench_tucker.whole_tensor import FROM_SAMPLES, MANY, STARTS

from orthobench.tools.geometry import random_point

SOLVERS = [PGD, HOOI, HOQRI, QuasiNewton, TrustRegion, JacobiTucker]


@dataclass(frozen=True)
class Samples(SymmetricTucker):
    """A problem that is only asked about."""

    name: ClassVar[str] = "recipe"
    tensor_shape = (5, 5, 5)

    def build(self, rng):
        raise NotImplementedError


class Tensors(Samples):
    offers: ClassVar[type[TuckerOracle]] = GivenTensorOracle


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_samples_starts_from_samples_are_refused(solver):
    for start in STARTS:
        assert solver(start=start).refuses(Samples()) is None
        why = solver(start=start).refuses(Tensors())
        assert (why is not None) == (start in FROM_SAMPLES)
    assert "the problem has a tensor, not samples" in solver(start="shoevd").refuses(Tensors())


def test_every_start_leads_every_solver_to_the_optimum():
    for case in product(SOLVERS, STARTS):
        solver, start = case
        rng = np.random.default_rng(3)
        basis = random_point(9, 2, rng)
        oracle = MomentOracle((rng.exponential(size=(300, 2)) - 1) @ basis.T, 3, 2)
        oracle.start = random_point(9, 2, rng)
        state = solver(start=start).init(oracle, rng)
        solver(start=start).advance(oracle, state, 200)
        Q = solver(start=start).solution(state).point
        assert np.linalg.norm(basis - Q @ (Q.T @ basis)) < 1e-10, case


def test_many_samples_are_sketched_unless_their_entries_are_few():
    """For 200 features there are 20,100 columns, for 20 there are 210."""
    for p, n, form, start in (
        (MANY, 200, "auto", "hoevd"), (MANY + 1, 200, "auto", "sketch"),
        (MANY + 1, 20, "auto", "hoevd"), (MANY + 1, 200, "explicit", "hoevd"),
        (2 * MANY, 200, "auto", "sketch"),
    ):  # fmt: skip
        oracle = MomentOracle(np.broadcast_to(1.0, (p, n)), 3, 2)
        assert PGD(form=form).start_flops(oracle) == PGD(form=form, start=start).start_flops(oracle)
