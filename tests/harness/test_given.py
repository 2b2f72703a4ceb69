"""Instances that a caller gives, as problems: what makes two of them the same, and their way."""

import gc
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from orthobench.errors import UsageError
from orthobench.harness import given
from orthobench.harness.given import GivenProblem, problem_of


@pytest.fixture
def instance(toys):
    return toys.Problem().build(None)


def test_a_given_problem_has_its_instance_whatever_the_seed(instance, toys):
    problem = problem_of(instance, toys.Problem)
    assert isinstance(problem, toys.Problem)
    assert isinstance(problem, GivenProblem)
    assert problem.build(np.random.default_rng(3)) is instance
    assert (problem.n, problem.k, problem.m, problem.p) == (6, 2, 2, 2)
    assert (problem.family, problem.offers) == ("toys", toys.Oracle)


def test_given_problems_are_equal_where_their_data_are(instance, toys):
    one, same = problem_of(instance, toys.Problem), problem_of(instance, toys.Problem)
    assert one == same
    assert hash(one) == hash(same)
    assert one.checksum() == same.checksum()
    other = problem_of(replace(instance, best={"gap": 1.0}), toys.Problem)
    assert one != other
    assert one.checksum() != other.checksum()
    assert one != toys.Problem()


def test_the_start_of_an_earlier_run_is_no_part_of_the_data_and_stays(instance, toys):
    before = problem_of(instance, toys.Problem).checksum()
    instance.oracle.start = start = np.eye(6)[:, :2]
    assert problem_of(instance, toys.Problem).checksum() == before
    assert instance.oracle.start is start
    del instance.oracle.start
    problem_of(instance, toys.Problem)
    assert "start" not in vars(instance.oracle)


def test_it_goes_to_another_process_by_a_file_that_goes_with_it(instance, toys):
    problem = problem_of(instance, toys.Problem)
    file = Path(problem._file)
    given._read.cache_clear()
    again = pickle.loads(pickle.dumps(problem))  # noqa: S301
    assert again == problem
    assert again.instance is not instance
    assert np.array_equal(again.instance.oracle.A, instance.oracle.A)
    assert pickle.loads(pickle.dumps(problem)) is again  # noqa: S301
    assert file.exists()
    del problem
    gc.collect()
    assert not file.exists()
    given._read.cache_clear()


def test_instance_that_cannot_be_sent_is_refused(instance, toys):
    instance.oracle.rows = (row for row in [])
    with pytest.raises(UsageError, match=r"cannot be sent to another process .* inline executor"):
        pickle.dumps(problem_of(instance, toys.Problem))
