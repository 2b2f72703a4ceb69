"""Exhibits: what they may hold, how they are packed, who makes them and when."""

import io
import itertools
import pickle
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from texts import texts

import orthobench as ob
from orthobench.contract.exhibits import (
    LARGEST,
    MOST,
    Curve,
    Image,
    checked_exhibits,
    packed,
    unpacked,
)
from orthobench.errors import StoreError
from orthobench.harness import run as harness
from orthobench.harness.identity import Streams
from orthobench.harness.stopping import Budget, RunStatus

STREAMS = Streams.of("toy", "power", 0)
SINGLE = st.floats(width=32, allow_infinity=False)


def again(exhibit):
    return unpacked(*packed(exhibit))


def bits(values):
    return values.view(np.uint32).tolist()


class TestConstruction:
    def test_values_that_cannot_be_drawn_are_refused(self):
        for make, said in (
            (lambda: Image(np.zeros(3)), r"2 axes .* not shape \(3,\)"),
            (lambda: Image(np.zeros((2, 0))), r"between 1 and .* not shape \(2, 0\)"),
            (lambda: Image(np.zeros((2, 2), complex)), "real numbers, not of dtype complex128"),
            (lambda: Image(np.array([["a"]])), "real numbers"),
            (lambda: Image(np.array([[0.0], [np.inf], [np.inf]])), r"at \(1, 0\) is .*inf"),
            (lambda: Image(np.array([[1e39]])), r"fit single precision; at \(0, 0\) is .*1e\+39"),
            (lambda: Image(np.broadcast_to(0.0, (2**11, 2**11 + 1))), "not shape"),
            (lambda: Curve(np.zeros(2), np.zeros(3), "", ""), "2 values of x and 3 of y"),
            (lambda: Curve(np.zeros((1, 2)), np.zeros(2), "", ""), "x of a curve must have one"),
            (lambda: Curve(np.array([np.nan]), np.zeros(1), "", ""), "x of a curve is NaN"),
            (lambda: Curve(np.zeros(1), np.zeros(1), None, ""), "must be texts"),
            (lambda: Curve(np.zeros(0), np.zeros(0), "", ""), "between 1 and"),
        ):
            with pytest.raises(ValueError, match=said):
                make()

    def test_only_exhibits_by_name_are_exhibits(self):
        image = Image(np.zeros((1, 1)))
        assert checked_exhibits({"a": image}) == {"a": image}
        for wrong in (
            [image],
            {"a": np.zeros((1, 1))},
            {1: image},
            {"": image},
            {"a\ud800": image},
            None,
        ):
            with pytest.raises(TypeError, match="exhibit"):
                checked_exhibits(wrong)


class TestPacking:
    @given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=SINGLE))
    def test_images_come_back_bit_for_bit(self, values):
        for signed, reference in itertools.product([False, True], repeat=2):
            back = again(Image(values, signed, reference))
            assert isinstance(back, Image)
            assert (back.signed, back.reference) == (signed, reference)
            assert back.values.shape == values.shape
            assert bits(back.values) == bits(values)

    @given(st.lists(st.tuples(SINGLE, SINGLE), min_size=1), texts(), texts(), st.booleans())
    @example([(0.0, 1.0)], " x\n", "\u2028\0y ", True)
    def test_curves_come_back_bit_for_bit(self, points, x_label, y_label, reference):
        x, y = np.array(points, dtype=np.float32).T.copy()
        x[np.isnan(x)] = 0
        back = again(Curve(x, y, x_label, y_label, reference))
        assert isinstance(back, Curve)
        assert (back.x_label, back.y_label, back.reference) == (x_label, y_label, reference)
        assert (bits(back.x), bits(back.y)) == (bits(x), bits(y))

    @pytest.mark.parametrize("kind", ["image", "curve"])
    @given(data=st.binary())
    def test_foreign_bytes_are_refused(self, kind, data):
        for raw in (data, zlib.compress(data), zlib.compress(b"\x93NUMPY\x01\x00" + data)):
            with pytest.raises(StoreError):
                unpacked(kind, '{"reference": false, "signed": false}', raw)

    def test_nothing_is_unpickled(self):
        class Boom:
            def __reduce__(self):
                return pytest.fail, ("unpickled",)

        buffer = io.BytesIO()
        np.save(buffer, np.array([[Boom()]], dtype=object), allow_pickle=True)
        for raw in (buffer.getvalue(), pickle.dumps(Boom())):
            with pytest.raises(StoreError, match="no exhibit"):
                unpacked("image", '{"reference": false, "signed": false}', zlib.compress(raw))

    def test_no_more_is_unpacked_than_an_exhibit_can_be(self):
        _, meta, _ = packed(Image(np.zeros((1, 1))))
        # a byte more than the two rows of the largest curve and 4 kB before them
        bomb = zlib.compress(bytes(2 * 2**24 + 2**12 + 1))
        with pytest.raises(StoreError, match="larger than any exhibit"):
            unpacked("image", meta, bomb)


HALF = Image(np.zeros((2, LARGEST // 4)))


def test_a_solution_shows_only_so_much():
    for shown in (
        dict.fromkeys(map(str, range(MOST + 1)), Image(np.zeros((1, 1)))),
        {"a": HALF, "b": HALF, "c": Image(np.zeros((1, 1)))},
        {"a": HALF, "b": HALF, "c": Curve(np.zeros(1), np.zeros(1), "", "")},
    ):
        with pytest.raises(ValueError, match="at most 64 exhibits, and these at most 4194304"):
            checked_exhibits(shown)
        del shown[max(shown)]
        assert checked_exhibits(shown) == shown


def run(toys, fault="none"):
    instance = toys.Pictured(fault=fault).build(np.random.default_rng(0))
    return harness.run(instance, toys.Solver(), Budget(steps=20), STREAMS)


class TestHarness:
    def test_a_run_shows_its_last_finished_solution(self, toys):
        instance = toys.Pictured().build(np.random.default_rng(0))
        instance = replace(instance, finish=lambda s: replace(s, point=-s.point))
        outcome = harness.run(instance, toys.Solver(), Budget(steps=20), STREAMS)
        assert list(outcome.exhibits) == ["point", "truth", "curve", "diagonal"]
        shown = outcome.exhibits["point"].values
        assert np.array_equal(shown, outcome.final.point.astype(np.float32))
        assert np.array_equal(outcome.final.point, -run(toys).final.point)

    @pytest.mark.parametrize(
        ("fault", "said"), [("raise", "ZeroDivisionError"), ("alien", "exhibit 'point' is a nda")]
    )
    def test_an_error_fails_the_run_and_keeps_its_numbers(self, toys, fault, said):
        outcome, plain = run(toys, fault), run(toys)
        assert outcome.stop.status is RunStatus.ERROR
        assert outcome.stop.reason.startswith("exhibits: ")
        assert said in outcome.stop.reason
        assert "Traceback" in outcome.stop.traceback
        assert not outcome.exhibits
        assert np.array_equal(outcome.final.point, plain.final.point)
        assert [m.metrics for m in outcome.trace] == [m.metrics for m in plain.trace]

    def test_a_run_that_failed_shows_nothing(self, toys):
        for fault in ("raise", "nan", "drift"):
            instance = toys.Pictured().build(np.random.default_rng(0))
            outcome = harness.run(instance, toys.Solver(fault=fault), Budget(steps=5), STREAMS)
            assert outcome.stop.status.failed, fault
            assert outcome.trace, fault
            assert not outcome.exhibits, fault

    def test_failed_exhibits_raise_when_they_are_read(self, toys):
        outcome = ob.solve(toys.Solver(), toys.Pictured(fault="raise"), ob.Budget(steps=9))
        assert outcome.solution.shape == (6, 2)
        with pytest.raises(ZeroDivisionError):
            _ = outcome.exhibits
