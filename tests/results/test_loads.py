"""How busy the machine was, as bytes: what is pack_load comes back, rounded and cut off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orthobench.results.checks import MisfitError
from orthobench.results.rows import NOT_SAID, pack_load, unpack_load
from orthobench.tools.machine import Load

averages = st.none() | st.integers(0, NOT_SAID - 1).map(lambda hundredths: hundredths / 100)
frequencies = st.none() | st.integers(0, NOT_SAID - 1)


@given(st.integers(1, NOT_SAID - 1), averages, averages, frequencies, frequencies)
def test_what_is_packed_comes_back(count, before, after, mhz, mhz_after):
    loads = Load(count, before, mhz), Load(count, after, mhz_after)
    assert unpack_load(pack_load(loads)) == loads


def test_the_largest_stands_for_all_beyond_it():
    largest = Load(NOT_SAID - 1, (NOT_SAID - 1) / 100, NOT_SAID - 1)
    assert unpack_load(pack_load((Load(10**6, 1e9, 1e6), largest))) == (largest, largest)


def test_what_was_not_measured_stays_unknown():
    assert pack_load(None) is None
    assert unpack_load(None) is None


def test_bytes_of_another_length_are_refused():
    with pytest.raises(MisfitError, match="its load has 9 bytes"):
        unpack_load(bytes(9))


def test_they_are_five_numbers_of_two_bytes():
    stored = bytes.fromhex("0400 3200 ffff e803 ffff")
    assert pack_load((Load(4, 0.5, 1000), Load(4, None, None))) == stored
    assert unpack_load(stored) == (Load(4, 0.5, 1000), Load(4, None, None))


@pytest.mark.parametrize("processors", ["0000", "ffff"])
def test_a_machine_that_did_not_say_has_one_processor(processors):
    before, after = unpack_load(bytes.fromhex(processors + 4 * "0000"))
    assert before == after == Load(1, 0.0, 0)
