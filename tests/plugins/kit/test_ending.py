"""Ends of runs that a device notes."""

import array_api_strict as strict
import pytest
from orthobench_kit.ending import EndingState, finish_if, read_end, unless_ended

import orthobench as ob
from orthobench.contract import Status


@pytest.fixture
def oracle():
    return ob.stochastic_pca([[1.0, 2.0], [3.0, 4.0]], k=1).oracle


def noted(flags, state):
    """Do a step for each (converged, failed); return the iterates."""
    iterates, x = [], strict.asarray(0.0)
    for converged, failed in flags:
        state.work.steps += 1
        state.work.flops += 10
        x = unless_ended(state, x + 1, x)
        assert not finish_if(state, strict.asarray(converged), strict.asarray(failed))
        iterates.append(float(x))
    return iterates


def test_with_numpy_the_status_is_set_at_once():
    state = EndingState()
    assert not finish_if(state, False, False)
    assert finish_if(state, True)
    assert state.status is Status.CONVERGED
    assert finish_if(state, True, True)
    assert state.status is Status.FAILED


def test_elsewhere_the_first_end_counts_and_the_iterate_stays(oracle):
    for end, status in (
        ((True, False), Status.CONVERGED), ((True, True), Status.FAILED),
        ((False, True), Status.FAILED),
    ):  # fmt: skip
        state, no = EndingState(), (False, False)
        assert noted([no, end, no, (True, False)], state) == [1, 2, 2, 2], end
        assert state.status is Status.RUNNING, end
        read_end(oracle, state)
        assert (state.status, state.work.steps, state.work.flops) == (status, 2, 20), end


def test_samples_that_were_taken_after_the_end_count(oracle):
    state = EndingState()
    noted([(True, False)], state)
    oracle.prepare(2)
    oracle.take(2)
    read_end(oracle, state)
    assert (state.work.samples, state.ended, state.notes) == (2, None, [])


def test_a_run_that_has_not_ended_goes_on(oracle):
    state = EndingState()
    assert noted([(False, False)] * 2, state) == [1, 2]
    read_end(oracle, state)
    assert (state.status, state.work.steps) == (Status.RUNNING, 2)
    assert noted([(True, False)], state) == [1]
    read_end(oracle, state)
    assert (state.status, state.work.steps) == (Status.CONVERGED, 3)
