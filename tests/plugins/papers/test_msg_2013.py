"""The mathematics of the claims of Arora, Cotter and Srebro (2013); broken solvers."""

import numpy as np
import pytest
from constructed import trace_of
from orthobench_papers.msg_2013 import (
    algorithm_2,
    figure_1,
    figure_3_cost,
    orthogonal,
    theorem_1,
    updates,
)
from orthobench_stochastic_pca._kernels.iterates import Onto, Projection
from orthobench_stochastic_pca.relaxed import Relaxed
from orthobench_stochastic_pca.schedule import Scheduled
from orthobench_stochastic_pca.solvers.entropic import WarmuthKuzmin
from orthobench_stochastic_pca.solvers.incremental import IncrementalPCA
from orthobench_stochastic_pca.solvers.msg import MSG, CappedMSG
from records import record

from orthobench.registry.plugins import catalogue
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs
from orthobench.stats.bootstrap import quantiles
from orthobench.tools.datasets import data_folder

paper_of = catalogue().paper

IMAGES = "t10k-images-idx3-ubyte.gz"


def best(k):
    """Return the share of the variance in the first k directions, a geometric series."""
    return (1 - 1.1**-k) / (1 - 1.1**-32)


def gap(k):
    """Return what the best k directions have more than the next best k."""
    return (1 - 1 / 1.1) / (1 - 1.1**-32) * (1.1 ** (1 - k) - 1.1**-k)


def test_its_probabilities_fall_by_a_tenth():
    p = orthogonal.probabilities()
    assert p[:-1] / p[1:] == pytest.approx(np.full(31, 1.1))
    assert p.cumsum() == pytest.approx([best(k) for k in range(1, 33)])


@pytest.mark.parametrize("k", [1, 2, 4])
def test_half_of_what_the_second_best_misses(k):
    assert orthogonal.half_gap(k) == pytest.approx(gap(k) / 2)


def test_what_is_missed_is_the_variance_outside():
    between = np.zeros((32, 1))
    between[:2, 0] = 0.6, 0.8
    p = best(1), best(2) - best(1)
    assert orthogonal.missed(between) == pytest.approx(0.64 * (p[0] - p[1]))


def test_rounding_is_measured_by_sums_along_the_run(monkeypatch):
    class Run:
        point, taken = np.eye(32, 1), 0

        def advance(self, steps=1):
            self.taken += steps
            return self

    run = Run()
    monkeypatch.setattr(theorem_1, "begin", lambda *_, **options: run)
    even = np.diag([0.5, 0.5, *[0.0] * 30])
    monkeypatch.setattr(theorem_1, "iterate", lambda run: even)
    assert theorem_1._rounded(1, 0, 20) == pytest.approx(2 * 1.1 / 2.1)
    assert run.taken == 40


def test_spectra_are_those_of_iterates_of_trace_k_and_a_sample_more():
    found = algorithm_2.spectra(0, 12)
    assert len(found) == 12
    oracle = algorithm_2.instance("digits", 0, k=4).oracle
    oracle.prepare(12)
    norms = (oracle.take(12) ** 2).sum(axis=1)
    traces = [values @ counts for values, counts in found]
    assert traces == pytest.approx(4 + norms / np.sqrt(np.arange(1, 13)), abs=1e-8)
    assert all(counts.sum() == oracle.n for _, counts in found)


def test_its_corrected_form_finds_the_shift_of_any_spectrum():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(3, 8)), int(rng.integers(1, 3))
        values = np.sort(rng.choice(30, n, replace=False)) / rng.choice([10, 20])
        counts = rng.integers(1, 4, n).astype(float)
        S = algorithm_2.shift(values, counts, k, printed=False)
        assert counts @ np.clip(values + S, 0, 1) == pytest.approx(k), seed
        assert algorithm_2.finds(values, counts, k, printed=False), seed


def test_there_is_none_where_all_eigenvalues_are_too_few():
    assert algorithm_2.shift(np.array([0.5]), np.ones(1), 2, printed=False) is None
    assert not algorithm_2.finds(np.array([0.5]), np.ones(1), 2, printed=False)


def test_the_capped_step_keeps_the_eigenvalues_that_are_nearest():
    """Of these the four largest, shifted down by a quarter each to sum to three."""
    M = np.diag([1.0, 1, 1, 0, 0, 0, 0, 0])
    G = np.diag([0.0, 0, 0, 0.5, 0.1, 0.05, 0, 0])
    found = np.diag(updates.capped_step(M, G))
    assert found == pytest.approx([0.875, 0.875, 0.875, 0.375, 0, 0, 0, 0])


@pytest.mark.parametrize("c", [0.5, 1.0])
def test_steps_are_c_over_the_root_of_t_until_the_trace_is_k(c):
    D = figure_1.eigenvalues(3, 40, c)
    sums = np.minimum(4, c * np.cumsum(1 / np.sqrt(np.arange(1, 41))))
    once = (D.max(axis=1) < 1).cumprod().astype(bool)
    assert D.sum(axis=1)[once] == pytest.approx(sums[once])
    assert D[0].max() == pytest.approx(c)
    assert D.sum(axis=1)[-1] == pytest.approx(4)


def test_algorithm_2_as_printed_stops_too_early():
    values, counts = np.array([0.2, 0.4, 1.35, 1.6]), np.ones(4)
    assert not algorithm_2.finds(values, counts, 2, printed=True)
    assert algorithm_2.finds(values, counts, 2, printed=False)


def test_stays_are_counted_where_a_direction_enters_and_leaves():
    D = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 1]], dtype=float)
    assert figure_1._stays(D).tolist() == [2.0]


def test_growth_of_the_rank_and_share_of_small_eigenvalues(monkeypatch):
    D = np.array([[0.5, 0.0, 0.0], [0.5, 0.1, 0.3], [0.0, 0.2, 0.05]])
    monkeypatch.setattr(figure_1, "_eigenvalues", lambda evidence: [D] * 5)
    monkeypatch.setattr(figure_1, "SETTLED", 0)
    monkeypatch.setattr(figure_1, "K", 1)
    assert figure_1.grows_by_one(None).value == 2
    assert figure_1.small(None).value == pytest.approx(1 / 3)


def test_the_best_of_the_orthogonal_distribution_misses_nothing():
    axes = np.eye(32)
    assert orthogonal.missed(axes[:, :2]) == pytest.approx(0, abs=1e-15)
    assert orthogonal.missed(axes[:, [0, 2]]) == pytest.approx(
        2 * orthogonal.half_gap(2), rel=1e-12
    )


def of_msg(solver, *ranks):
    """Return a run of a solver with these ranks after 0, 10 and 30 samples."""
    rank = {"rank": ranks} if ranks else {}
    trace = trace_of({"samples": (0, 10, 30), **rank})
    return [record("", solver="mine", solver_name=solver, trace=trace)]


def test_the_runtime_sums_the_squared_ranks_of_the_iterates_by_trapezia():
    assert figure_3_cost.runtime(of_msg("msg", 0, 1, 3), 2).tolist() == [[40, 40 + 200]]


@pytest.mark.parametrize(("solver", "square"), [("incremental-pca", 9), ("oja", 4)])
def test_the_runtime_grows_evenly_for_methods_without_a_rank(solver, square):
    assert figure_3_cost.runtime(of_msg(solver), 2).tolist() == [[10 * square, 30 * square]]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return Runs(paper_of("msg-2013"), tmp_path_factory.mktemp("msg"), "quick", quiet=True)


@pytest.mark.slow
@pytest.mark.skipif(not (data_folder() / IMAGES).exists(), reason=f"needs {IMAGES}")
@pytest.mark.parametrize("k", [1, 4, 8])
class TestMNIST:
    """Results of a correct implementation that the paper does not mention."""

    def median(self, evidence, k, solver, value="suboptimality"):
        return quantiles(evidence.finals("mnist", f"mnist k={k}", solver, value), 0.5)

    def test_the_empirical_risk_minimizer_is_best(self, evidence, k):
        others = ["msg", "capped-msg", "incremental-pca", "grassmannian-sgd", "oja"]
        best = self.median(evidence, k, "batch-pca")
        assert all(best < 1.05 * self.median(evidence, k, solver) for solver in others)

    def test_flops_rank_methods_as_the_estimated_runtime_does(self, evidence, k):
        msg, capped, entropic, incremental = (
            self.median(evidence, k, solver, "flops")
            for solver in ("msg", "capped-msg", "warmuth-kuzmin", "incremental-pca")
        )
        assert msg > 5 * incremental
        assert incremental < capped < 2.5 * incremental
        assert 1 / 3 < entropic / msg < 3

    def test_both_methods_that_rotate_the_basis_are_alike(self, evidence, k):
        geodesic, polar = (self.median(evidence, k, who) for who in ("grassmannian-sgd", "oja"))
        assert 0.7 < geodesic / polar < 1.4

    def test_warmuth_and_kuzmin_match_msg(self, evidence, k):
        found = [self.median(evidence, k, solver) for solver in ("warmuth-kuzmin", "msg")]
        assert found[0] < 1.3 * found[1]


def no_shift(solver, oracle):
    return Projection(Onto.FANTOPE, oracle.n, oracle.n)


def no_spare_direction(solver, oracle):
    return Projection(Onto.CAPPED, oracle.k, oracle.k)


def two_spare_directions(solver, oracle):
    return Projection(Onto.RANK, oracle.k + 2, oracle.k + 2)


def logarithms(solver, matrix):
    return np.minimum(matrix.values, 1.0), 0.0


def unweighted(solver, state, values, vectors, floor):
    k = state.start.shape[1]
    chosen = np.random.default_rng(state.work.steps).permutation(vectors.shape[1])[:k]
    return np.ascontiguousarray(vectors[:, chosen])


def ascending(solver, first, count):
    return np.sqrt(np.arange(first, first + count)) * solver.step_size


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "method", "broken", "claims"),
    [
        (MSG, "projection", no_shift, ["algorithm-1-is-projected-gradient", "msg-rank"]),
        (CappedMSG, "projection", no_spare_direction, ["capped-msg-does-not-stick"]),
        (IncrementalPCA, "projection", two_spare_directions, ["incremental-trap"]),
        (WarmuthKuzmin, "eigenvalues", logarithms, ["warmuth-kuzmin-is-mirror-descent"]),
        (Relaxed, "_sampled", unweighted, ["rounding-keeps-the-objective"]),
        (Scheduled, "etas", ascending, ["algorithm-1-is-projected-gradient", "others-converge"]),
    ],
)
def test_a_broken_solver_turns_claims_red(owner, method, broken, claims, monkeypatch, tmp_path):
    monkeypatch.setattr(owner, method, broken)
    runs = Runs(paper_of("msg-2013"), tmp_path, "quick", quiet=True)
    assert [
        one.claim.name for one in check(select(paper_of("msg-2013"), claims), runs) if one.red
    ] == claims
