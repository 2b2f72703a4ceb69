"""Runs that checks drive, numbers of records, and series of pictures."""

import numpy as np
import pytest
from constructed import trace_of
from orthobench_papers import runs
from orthobench_papers.public_pca import pca
from orthobench_papers.reproduce import Streams, canonical, describe, instance_of
from records import record

from orthobench.contract.solver import Status
from orthobench.registry.plugins import catalogue


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


class TestNumbers:
    def test_metrics_and_samples_are_those_after_the_start(self):
        records = [
            record("", trace=trace_of({"samples": (0, 10, 30), "gap": gaps}))
            for gaps in ((9.0, 5.0, 4.0), (9.0, 3.0, 2.0))
        ]
        assert runs.traced(records, "gap").tolist() == [[5, 4], [3, 2]]
        assert runs.samples_taken(records).tolist() == [10, 30]
        assert runs.samples_taken(records[:1]).tolist() == [10, 30]
