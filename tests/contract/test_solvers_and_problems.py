"""The base classes of the contract."""

import pickle
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from orthobench_kit.sources import ArraySource
from orthobench_kit.streams import SamplerSource

from orthobench.contract import (
    ArraySolver,
    Instance,
    Oracle,
    SampleOracle,
    Solution,
    Solver,
    Status,
    Summary,
    SummarySolver,
    UsageError,
)
from orthobench.contract.parameters import (
    ParameterError,
    make,
    parameter,
)
from orthobench.contract.problem import Work
from orthobench.contract.samples import BLOCK, BlockSource
from orthobench.errors import DataError
from orthobench.tools.places import DEFAULT, place_of


def test_solutions_in_other_precisions_are_rounded():
    good, single = np.eye(2), np.eye(2, dtype=np.float32)
    whole = Solution(good, np.ones(2, dtype=np.float32))
    assert whole.in_float64 is whole
    rounded = Solution(single, single[0], None).in_float64
    assert (rounded.point.dtype, rounded.weights.dtype) == (np.float64, np.float64)
    assert rounded.core is None
    assert rounded.point.tolist() == good.tolist()


class Plain(Oracle):
    def __init__(self):
        self.n, self.k, self.values = 4, 2, np.arange(3.0)


class Portable(Plain):
    portable: ClassVar[bool] = True


def test_another_start_is_drawn_at_random():
    oracle = Plain()
    oracle.start_again(1, np.random.default_rng(3))
    first = oracle.start
    oracle.start_again(2, np.random.default_rng(4))
    assert first.shape == (4, 2)
    assert np.allclose(first.T @ first, np.eye(2))
    assert not np.allclose(first, oracle.start)


def test_only_a_portable_oracle_moves_and_leaves_the_other_as_it_is():
    with pytest.raises(UsageError, match="Plain has arrays of numpy only, not of numpy/float32"):
        Plain().to(place_of("numpy/float32"))
    here = Portable()
    there = here.to(place_of("numpy/float32"))
    assert (here.values.dtype, there.values.dtype) == (np.float64, np.float32)
    assert (here.place, str(there.place), there.n) == (DEFAULT, "numpy/float32", 4)
    assert here.placed(here.values) is here.values


def test_copies_of_samples_begin_with_the_first():
    X = np.arange(12.0).reshape(6, 2)
    oracle = SampleOracle(ArraySource(X), 1)
    oracle.prepare(4)
    oracle.take(3)
    again = pickle.loads(pickle.dumps(oracle))  # noqa: S301
    there = oracle.to(place_of("numpy/float32"))
    for copy in (again, there):
        copy.prepare(2)
        assert copy.take(2).tolist() == X[:2].tolist()
    assert there.take(0).dtype == np.float32
    assert (oracle.taken, again.taken) == (3, 2)
    assert oracle.take(1).tolist() == X[3:4].tolist()


class Halves(BlockSource):
    """Rows in two blocks of unequal height."""

    def __init__(self, X, cut):
        self.X, self.cuts, self.d = X, (0, cut, len(X)), X.shape[1]
        self.size = self.length = len(X)
        self.count = 2

    def block(self, index):
        return self.X[self.cuts[index] : self.cuts[index + 1]]

    def height(self, index):
        return len(self.block(index))

    def label(self, index):
        return f"block {index}"


def test_blocks_stream_row_by_row_and_make_one_pass():
    X = np.arange(2.0 * BLOCK + 20).reshape(-1, 2).astype(np.float32)
    for cut in (1, BLOCK // 2, len(X) - 1):
        source = Halves(X, cut)
        pieces = [*source.blocks(np.random.default_rng(0))]
        assert np.array_equal(np.concatenate(pieces), X)
        assert all(p.dtype == np.float64 and p.flags.c_contiguous for p in pieces)
        assert all(0 < len(p) <= BLOCK for p in pieces)
        assert SampleOracle(source, 1).length == len(X)
    assert source.row_number(7) == 7
    assert not source.timed
    endless = SamplerSource(lambda rng, count: rng.standard_normal((count, 2)), 2)
    assert SampleOracle(endless, 1).length == float("inf")


def test_samples_of_another_length_are_refused_with_their_row():
    source = Halves(np.ones((600, 3)), 300)
    source.d = 2
    with pytest.raises(DataError, match=r"row 0 on have shape \(256, 3\), not \(rows, 2\)"):
        SampleOracle(source, 1).prepare(1)


@dataclass(frozen=True)
class Streaming(Solver[Portable, None]):
    name: ClassVar[str] = "streaming"
    packages: ClassVar[tuple[str, ...]] = ()

    def init(self, oracle, rng):
        return None

    def solution(self, state):
        return Solution(np.eye(2))


@dataclass(frozen=True)
class Anywhere(ArraySolver[Plain, None], Streaming):
    name: ClassVar[str] = "anywhere"


@dataclass(frozen=True)
class Summed(SummarySolver[Portable, None, Summary], Streaming):
    name: ClassVar[str] = "summed"

    def summarize(self, oracle, block):
        return Summary(rows=len(block), flops=3 * len(block))

    def merge(self, a, b):
        return Summary(rows=a.rows + b.rows, flops=a.flops + b.flops)

    def finish(self, oracle, summary):
        return Solution(oracle.start)


@dataclass(frozen=True)
class Both(Summed, Anywhere):
    name: ClassVar[str] = "both"


def test_a_solver_computes_where_a_base_of_it_does():
    for cls, on, said in (
        (Anywhere, "numpy/float32", ""),
        (Anywhere, "blocks", "makes no summaries of blocks, which blocks takes"),
        (Summed, "blocks", ""),
        (Summed, "numpy/float32", "computes with numpy in float64 only, not with numpy/float32"),
        (Both, "blocks", ""),
        (Both, "numpy/float32", ""),
        (Both, "nowhere", "nowhere"),
    ):
        assert str(cls(on="numpy").place) == "numpy", (cls, on)
        if not said:
            assert str(cls(on=on).place) == on, (cls, on)
            continue
        with pytest.raises(ParameterError, match=said) as caught:
            cls(on=on)
        assert caught.value.parameter == "on", (cls, on)


def test_refusal_of_a_problem_comes_before_missing_packages(toys, monkeypatch):
    monkeypatch.setattr(Streaming, "packages", ("no-such-a", "numpy", "no-such-b"))
    missing = "needs no-such-a no-such-b: pip install no-such-a no-such-b"
    assert Streaming().missing_packages() == missing
    assert Streaming().refuses(toys.Problem()) == (
        "needs a Portable, leading-subspace offers MatrixOracle"
    )
    monkeypatch.setattr(toys.Problem, "offers", Portable)
    assert Streaming().refuses(toys.Problem()) == missing
    monkeypatch.setattr(Streaming, "packages", ("numpy",))
    assert Streaming().refuses(toys.Problem()) is None


def test_solver_elsewhere_refuses_arrays_that_cannot_move(toys, monkeypatch):
    for offers, place, refused in (
        (Plain, "numpy/float32", True), (Plain, "numpy", False), (Portable, "numpy/float32", False),
    ):  # fmt: skip
        monkeypatch.setattr(toys.Problem, "offers", offers)
        assert bool(Anywhere(on=place).refuses(toys.Problem())) is refused, (offers, place)


def test_needs_of_a_solver_follow_from_its_base():
    assert Streaming.needs is Portable
    assert type("Derived", (Streaming,), {}).needs is Portable
    assert Anywhere.needs is Plain
    assert type("Own", (Solver,), {"needs": Plain}).needs is Plain


def test_steps_end_where_the_status_is_not_running(toys):
    oracle = toys.Problem().build(np.random.default_rng(0)).oracle
    oracle.start = np.eye(6)[:, :2]
    solver = toys.Solver(fault="converge")
    state = solver.init(oracle, np.random.default_rng(0))
    solver.advance(oracle, state, 3)
    assert (state.work, state.status) == (Work(3, 0, 300), Status.RUNNING)
    solver.advance(oracle, state, 9)
    assert (state.work.steps, state.status) == (5, Status.CONVERGED)


def test_violation_of_an_instance_is_the_defect_by_default():
    instance = Instance(Plain(), lambda solution: {})
    skew = Solution(np.array([[2.0, 0.0], [0.0, 1.0], [0.0, 0.0]]))
    assert instance.violation(skew) == pytest.approx(3.0)
    assert instance.nearest(skew).point == pytest.approx(np.eye(3)[:, :2])
    assert instance.finish(skew) is skew
    assert instance.exhibits(skew) == {}


@dataclass(frozen=True)
class Needy:
    first: int = parameter(help="one")
    second: int = parameter(help="two", name="other")
    third: int = parameter(3, help="three")


def test_all_that_is_missing_is_named_with_what_the_first_is():
    with pytest.raises(ParameterError) as caught:
        make(Needy, {}, "it")
    assert str(caught.value) == "it needs first and other (first: one)"
    assert caught.value.parameter == "first"
    with pytest.raises(ParameterError, match=r"it needs other \(other: two\)"):
        make(Needy, {"first": 1}, "it")
    assert make(Needy, {"first": 1, "other": 2}, "it") == Needy(1, 2)
