"""Helpers for calling other libraries."""

from contextlib import suppress

import numpy as np
import pytest
from orthobench_kit.peer import Peer, finite, numpy_seeded

from orthobench.contract import DataError, UsageError


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_entry_that_is_not_finite_is_refused(bad):
    data = np.ones((3, 4))
    assert finite(data, "rows") is data
    data[1, 2] = bad
    with pytest.raises(DataError, match="the rows hold NaN or an infinity"):
        finite(data, "rows")


def test_the_global_generator_is_seeded_within_and_restored_after():
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.random(3)  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    drawn = []
    for seed in (1, 1, 2):
        with suppress(ZeroDivisionError), numpy_seeded(seed):
            drawn.append(np.random.random())  # noqa: NPY002
            raise ZeroDivisionError
    np.testing.assert_array_equal(np.random.random(3), expected)  # noqa: NPY002
    assert drawn[0] == drawn[1] != drawn[2]


class Lacking(Peer):
    """Begins, if its library were there."""

    name, extra = "lacking", "peers-torch"

    def begin(self, oracle, rng):
        return "begun"

    step = solution = None


def test_a_peer_begins_only_where_its_library_is(monkeypatch):
    assert Lacking().init(None, None) == "begun"
    monkeypatch.setattr(Lacking, "packages", ("numpy", "no-such-library"), raising=False)
    with pytest.raises(UsageError, match=r"unavailable: install orthobench\[peers-torch\]"):
        Lacking().init(None, None)
