"""The arrays of an object: found along every reference, copied, restored, made NaN."""

from functools import partial

import numpy as np
import pytest

from orthobench.testing import NotCheckable
from orthobench.testing.checks_of_solvers import fill_with_nan
from orthobench.tools.object_graph import Snapshot, arrays


class Holder:
    def __init__(self, **parts):
        vars(self).update(parts)

    def method(self):
        return self


class Slotted:
    __slots__ = ("absent", "x")


class SlottedInAWord(Slotted):
    __slots__ = "y"


def test_arrays_are_found_along_every_kind_of_reference():
    A, B = np.zeros(2), np.ones(2)
    slotted = SlottedInAWord()
    slotted.x, slotted.y = A, B

    def closure():
        return A, B, later

    holders = {
        "plain": (A, {".plain"}),
        "mapping": ({"x": [A], "y": B}, {".mapping['x'][0]", ".mapping['y']"}),
        "pair": ((A, {"y": B}), {".pair[0]", ".pair[1]['y']"}),
        "closure": (closure, {".closure(A)", ".closure(B)"}),
        "slotted": (slotted, {".slotted.x", ".slotted.y"}),
        "bound": (Holder(inside=A).method, {".bound.inside"}),
        "partial": (partial(max, 1, A, key=B), {".partial(2)", ".partial(key)"}),
        "none": (None, set()),
    }
    for name, (item, paths) in holders.items():
        assert arrays(Holder(**{name: item})).keys() == paths
    later = None


def test_sets_are_followed_and_loops_come_to_an_end():
    holder = Holder(x=np.zeros(1))
    holder.itself = holder
    assert [*arrays({1: {holder}})] == ["[1][0].x"]


def test_a_snapshot_names_what_changed_and_writes_it_back():
    holder = Holder(first=np.zeros(3), second=np.ones(2))
    holder.second.flags.writeable = False
    before = Snapshot(holder)
    assert before.changed() is None
    own = holder.second
    own.flags.writeable = True
    own[0] = -0.0
    own.flags.writeable = False
    assert before.changed() == "second"
    before.restore()
    assert before.changed() is None
    assert holder.second is own
    np.testing.assert_array_equal(own, [1, 1])
    assert not own.flags.writeable


def test_all_floats_but_the_start_become_nan():
    oracle = Holder(data=np.ones(2), start=np.ones(2), zeros=np.zeros(3), count=np.arange(2))
    oracle.inside = Holder(start=np.ones(1))
    oracle.data.flags.writeable = False
    fill_with_nan(oracle)
    assert np.isnan(oracle.data).all()
    assert np.isnan(oracle.zeros).all()
    assert np.isnan(oracle.inside.start).all()
    np.testing.assert_array_equal(oracle.start, [1, 1])
    np.testing.assert_array_equal(oracle.count, [0, 1])


def test_oracle_without_floats_cannot_become_nan():
    with pytest.raises(NotCheckable):
        fill_with_nan(Holder(start=np.ones(2), count=np.arange(2)))
