"""Runs that checks drive, numbers of records, and series of pictures."""

import numpy as np
import pytest
from constructed import Constructed, trace_of
from orthobench_papers import runs
from orthobench_papers.public_pca import CHECKED, pca, until
from orthobench_papers.reproduce import Streams, canonical, describe, instance_of
from orthobench_papers.reproduce.claims import Measurement, Verdict
from records import record

from orthobench.contract.solver import Status
from orthobench.registry.plugins import catalogue

paper_of = catalogue().paper


class TestDrivenRuns:
    def test_one_that_does_not_converge_is_an_error(self):
        run = runs.begin_trial("riemannian-gradient", pca(9, 4, 0, printed=True), 0)
        with pytest.raises(RuntimeError, match="riemannian-gradient has not converged after 3"):
            run.converge(3)
        assert run.converge().state.status is Status.CONVERGED

    def test_states_are_the_start_and_one_after_each_step(self):
        run = runs.begin_trial("riemannian-gradient", pca(9, 4, 0, printed=True), 0)
        assert [state.work.steps for state in run.states(3)] == [0, 1, 2, 3]
        run.state.status = Status.CONVERGED
        assert [state.work.steps for state in run.states(3)] == [3]

    def test_it_begins_at_the_start_that_is_given(self):
        made, X = pca(9, 4, 0, printed=True), np.eye(9, 4)
        assert runs.begin("riemannian-gradient", made, 0, X).point == pytest.approx(X)
        assert runs.begin_trial("riemannian-gradient", made, 0, X).point == pytest.approx(X)

    def test_a_trial_has_one_stream_for_the_start_and_one_for_the_solver(self, monkeypatch):
        begun = []
        monkeypatch.setattr(runs, "begin", lambda *given, **options: begun.append(given))
        runs.begin_trial("oja", pca(5, 2, 0, printed=True), 7)
        ((_, _, seed, start),) = begun
        expected = runs.random_point(5, 2, np.random.default_rng([7, 1]))
        assert np.array_equal(start, expected)
        assert seed == [7, 2]

    def test_a_run_as_in_a_suite_has_its_streams(self):
        problem = catalogue().problem("orthogonal-distribution", {"k": 2})
        run = runs.begin_as_in_suite("oja", problem, 3, step=2.0).advance(20)
        streams = Streams.of(canonical(describe(problem)), "oja", 3)
        made = instance_of(problem, 3)
        start = runs.random_point(32, 2, np.random.default_rng(streams.start))
        other = runs.begin("oja", made, streams.solver, start, streams.samples, step=2.0)
        assert np.array_equal(run.point, other.advance(20).point)

    def test_without_a_seed_samples_are_drawn_after_the_start(self):
        made = catalogue().problem("orthogonal-distribution", {"k": 2})
        start = runs.random_point(32, 2, np.random.default_rng(0))
        points = [
            runs.begin("oja", instance_of(made, 0), 5, start, samples).advance(9).point
            for samples in (None, 5, 6)
        ]
        assert np.array_equal(points[0], points[1])
        assert not np.allclose(points[0], points[2])

    def test_flops_are_looked_at_every_ten_steps(self):
        run = runs.begin_trial("riemannian-gradient", pca(9, 4, 0, printed=True), 0)
        until(run, 1e-3, 1000)
        assert run.state.work.steps % CHECKED == 0
        assert until(run, 0.0, run.state.work.steps) == np.inf


class TestNumbers:
    def test_metrics_and_samples_are_those_after_the_start(self):
        records = [
            record("", trace=trace_of({"samples": (0, 10, 30), "gap": gaps}))
            for gaps in ((9.0, 5.0, 4.0), (9.0, 3.0, 2.0))
        ]
        assert runs.traced(records, "gap").tolist() == [[5, 4], [3, 2]]
        assert runs.samples_taken(records).tolist() == [10, 30]

    @pytest.mark.parametrize(
        ("misses", "verdict"),
        [(0, Verdict.HOLDS), (4, Verdict.UNDECIDED), (40, Verdict.FAILS)],
    )
    def test_one_of_400_trials_that_fails_is_too_many_to_be_sure(self, misses, verdict):
        taken = []
        found = runs.in_every_trial(
            lambda seed: taken.append(seed) or seed >= misses,
            Constructed(paper_of("givens-2014")),
            "good",
        )
        assert (found.value, found.verdict) == (1 - misses / 400, verdict)
        assert taken == [*range(400)]
        assert found.text == "share of 400 good"

    def test_rows_of_several_k_are_joined(self):
        rows = {
            "a": [Measurement(Verdict.HOLDS, 1.0), Measurement(Verdict.FAILS, 2.0)],
            "": [Measurement(Verdict.HOLDS, 3.0), Measurement(Verdict.HOLDS, 4.0)],
        }
        found = runs.for_each_k("gaps", (1, 4), rows)
        assert (found.value, found.verdict) == (2, Verdict.FAILS)
        assert found.text == "gaps for k = 1, 4: a 1, 2; 3, 4"
