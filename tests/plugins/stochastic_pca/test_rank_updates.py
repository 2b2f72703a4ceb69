"""The five methods that keep a spectrum against plain ones, and the contract of a run."""

from dataclasses import replace

import numpy as np
import pytest
from orthobench_stochastic_pca import RelaxedSolution, stochastic_pca
from orthobench_stochastic_pca.reference import METHODS
from orthobench_stochastic_pca.solvers.entropic import MEG, WarmuthKuzmin
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG

from orthobench.errors import UsageError
from orthobench.tools.geometry import drift, random_point

SOLVERS = [
    MSG(relative=False, step_size=2.0),
    CappedMSG(relative=False, step_size=4.0),
    IncrementalPCA(),
    WarmuthKuzmin(relative=False, step_size=2.0),
    MEG(relative=False, step_size=10.0),
]
VARIANTS = [
    *SOLVERS,
    MSG(relative=False, start="random", average=True, schedule="constant", step_size=0.1),
    MSG(relative=False, rounding="sampled", average=True),
    CappedMSG(relative=False, K=2, start="random", schedule="1/t"),
    CappedMSG(relative=False, average=True, rounding="sampled"),
    IncrementalPCA(ties="new"),
    WarmuthKuzmin(relative=False, start="random", rounding="sampled", average=True),
    MEG(relative=False, rounding="sampled"),
]


def oracle_of(X, k):
    oracle = stochastic_pca(X, k).oracle
    oracle.start = random_point(X.shape[1], k, np.random.default_rng(99))
    return oracle


def started(solver, X, k, seed=7):
    oracle = oracle_of(X, k)
    oracle.prepare(len(X))
    return oracle, solver.init(oracle, np.random.default_rng(seed))


def after(solver, X, k):
    oracle, state = started(solver, X, k)
    solver.advance(oracle, state, len(X))
    return state


def gaussian(n, d=24, seed=0):
    scales = 0.8 ** np.arange(d)
    return np.random.default_rng(seed).standard_normal((n, d)) * scales / np.linalg.norm(scales)


def orthogonal(n, d=32, tau=1.1, seed=0):
    """The paper's orthogonal distribution (section 4)."""
    p = tau ** -np.arange(1.0, d + 1)
    return np.eye(d)[np.random.default_rng(seed).choice(d, n, p=p / p.sum())]


def with_repetitions(n):
    rng = np.random.default_rng(5)
    X = gaussian(n, seed=1)[rng.integers(0, n // 4, n)]
    X[rng.random(n) < 0.1] = 0.0
    X[rng.random(n) < 0.02] *= 1e-200
    return X


def without_ties(n):
    return orthogonal(n) * np.sqrt(np.linspace(0.5, 1.5, 32))


DATA = {
    "gaussian": gaussian(300),
    "low rank": gaussian(300)[:, :5] @ random_point(24, 5, np.random.default_rng(4)).T,
    "orthogonal": without_ties(400),
    "repetitions and zeros": with_repetitions(300),
}


def plain(solver, X, k):
    """Return the matrix that the plain method keeps, from the same start."""
    method, etas = METHODS[solver.name], np.ones(len(X))
    if solver.name != "incremental-pca":
        etas = solver.etas(1, len(X))
    M = method.begin(oracle_of(X, k).start)
    for x, eta in zip(X, etas, strict=True):
        M = method.step(M, x, eta)
    return (M.U * (M.s - M.floor)) @ M.U.T + M.floor * np.eye(X.shape[1])


def on_start(solver):
    """Return the solver from the common start if it has the choice, as the plain one."""
    return replace(solver, start="random") if hasattr(solver, "start") else solver


def kept_by(state):
    matrix = state.iterate.matrix
    excess = (matrix.basis.T * matrix.values) @ matrix.basis
    return excess + matrix.floor * np.eye(matrix.basis.shape[1])


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("solver", map(on_start, SOLVERS), ids=lambda s: s.name)
@pytest.mark.wide
def test_the_iterate_is_that_of_the_plain_method(solver, k, data):
    exact = plain(solver, DATA[data], k)
    mine = kept_by(after(solver, DATA[data], k))
    assert np.abs(mine - exact).max() <= 1e-9 * max(1.0, np.abs(exact).max())


def relaxed_matrix(solution):
    excess = (solution.vectors * (solution.values - solution.floor)) @ solution.vectors.T
    return excess + solution.floor * np.eye(len(excess))


@pytest.mark.parametrize(
    "solver", [s for s in VARIANTS if s.name != "incremental-pca"], ids=lambda s: str(s)
)
def test_solutions_are_feasible_and_orthonormal_at_every_step(solver):
    X, k = gaussian(200), 2
    oracle, state = started(solver, X, k)
    for count in [0, 1, 1, 1, 5, 20, 72, 100]:
        solver.advance(oracle, state, count)
        solution = solver.solution(state)
        assert isinstance(solution, RelaxedSolution)
        assert solution.point.shape == (24, k)
        assert drift(solution.point) < 1e-12
        values = np.linalg.eigvalsh(relaxed_matrix(solution))
        assert values.min() >= -1e-12
        assert values.max() <= 1 + 1e-12
        assert values.sum() <= k + 1e-9
    if not getattr(solver, "average", False):
        assert values.sum() == pytest.approx(k, abs=1e-9)


@pytest.mark.parametrize(
    "solver",
    [cls(relative=False, average=True) for cls in (MSG, CappedMSG, WarmuthKuzmin)],
    ids=lambda s: s.name,
)
def test_the_average_is_that_of_all_iterates(solver):
    X, k = with_repetitions(150), 2
    oracle, state = started(solver, X, k)
    total = np.zeros((24, 24))
    for _ in X:
        solver.advance(oracle, state, 1)
        values, _ = solver.eigenvalues(state.iterate.matrix)
        basis = state.iterate.matrix.basis
        total += (basis.T * values) @ basis
    mean = total / len(X)
    assert np.abs(relaxed_matrix(solver.solution(state)) - mean).max() < 1e-12


def test_a_cap_below_k_is_refused_before_any_work():
    with pytest.raises(UsageError, match="K = 2 is below k = 3"):
        started(CappedMSG(relative=False, K=2), gaussian(5), 3)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_the_basis_does_not_drift(solver):
    state = after(solver, gaussian(10_000, d=10), 2)
    assert drift(state.iterate.matrix.basis.T) < 1e-10
