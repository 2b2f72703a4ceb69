"""The claims of Arora, Cotter and Srebro (2013)."""

import numpy as np
import pytest
from orthobench_papers.msg_2013 import MSG_2013, algorithm_2, figure_1, figure_3_cost, orthogonal
from orthobench_stochastic_pca.entropic import WarmuthKuzmin
from orthobench_stochastic_pca.incremental import IncrementalPCA
from orthobench_stochastic_pca.msg import MSG, CappedMSG
from orthobench_stochastic_pca.relaxed import Relaxed
from orthobench_stochastic_pca.schedule import Scheduled
from orthobench_stochastic_pca.spectrum import CAPPED, FANTOPE, TRUNCATED, Projection
from records import record

from orthobench.contract.solver import Work
from orthobench.harness.trace import Checkpoint
from orthobench.registry.claims import Verdict
from orthobench.reproduce.check import check, select
from orthobench.reproduce.runs import Runs
from orthobench.stats.bootstrap import quantiles
from orthobench.tools.datasets import data_folder

IMAGES = "t10k-images-idx3-ubyte.gz"


class TestPaper:
    def test_every_figure_has_claims_and_a_picture(self):
        figures = {f"Figure {number}" for number in (1, 2, 3)}
        assert figures <= {claim.source for claim in MSG_2013.claims}
        assert figures == {picture.source for picture in MSG_2013.pictures}

    def test_every_result_has_a_claim(self):
        results = {
            "Lemma 3.1", "Theorem 1", "Algorithm 1", "Algorithm 2", "Section 1", "Section 3.3",
            "Section 4", "Section 5.1", "Section 5.2",
        }  # fmt: skip
        assert results <= {claim.source for claim in MSG_2013.claims}

    def test_these_claims_fail(self):
        failing = {c.name for c in MSG_2013.claims if c.known is Verdict.FAILS}
        assert failing == {
            "theorem-1-as-printed",
            "algorithm-2-as-printed",
            "msg-short-stays",
            "incremental-escapes-for-k-2",
            "capped-msg-is-barely-slower",
            "incremental-makes-the-most-progress",
            "warmuth-kuzmin-drops",
            "warmuth-kuzmin-drops-per-feature",
            "warmuth-kuzmin-has-a-larger-rank",
            "warmuth-kuzmin-costs-as-much-as-erm",
            "grassmannian-beats-warmuth-kuzmin",
            "grassmannian-is-behind-per-feature",
            "msg-costs-slightly-more",
            "per-feature-normalization",
        }
        assert all(c.known is not Verdict.UNDECIDED for c in MSG_2013.claims)


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


class TestRuntime:
    def recorded(self, solver, ranks):
        marks = [
            Checkpoint(0.0, 0.0, Work(samples=at), {} if rank is None else {"rank": rank})
            for at, rank in zip((0, 10, 30), ranks, strict=True)
        ]
        return [record("", solver=solver, trace=tuple(marks))]

    def test_it_sums_the_squared_ranks_of_the_iterates(self):
        found = figure_3_cost.runtime(self.recorded("msg", (0.0, 1.0, 3.0)), 2)
        assert found.tolist() == [[40.0, 40.0 + 200.0]]

    @pytest.mark.parametrize(("solver", "square"), [("incremental-pca", 9), ("oja", 4)])
    def test_it_grows_evenly_for_other_methods(self, solver, square):
        found = figure_3_cost.runtime(self.recorded(solver, (None,) * 3), 2)
        assert found.tolist() == [[10.0 * square, 30.0 * square]]


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    return Runs(MSG_2013, tmp_path_factory.mktemp("msg"), quick=True, quiet=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", [claim.name for claim in MSG_2013.claims])
def test_no_claim_is_red(name, evidence):
    (one,) = check(select(MSG_2013, [name]), evidence)
    assert not one.red, one


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
    return Projection(FANTOPE, oracle.n, oracle.n)


def no_spare_direction(solver, oracle):
    return Projection(CAPPED, oracle.k, oracle.k)


def two_spare_directions(solver, oracle):
    return Projection(TRUNCATED, oracle.k + 2, oracle.k + 2)


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
    runs = Runs(MSG_2013, tmp_path, quick=True, quiet=True)
    assert [one.claim.name for one in check(select(MSG_2013, claims), runs) if one.red] == claims
