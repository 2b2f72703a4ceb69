"""Peaks of memory: what calls need at once, and what they leave behind."""

from types import SimpleNamespace

import numpy as np
import pytest
from gpu_places import marked

from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.memory_peaks import CuPyPeak, HostPeak, JaxPeak, Peak, TorchPeak, device_peak
from orthobench.tools.places import place_of

needs_linux = pytest.mark.skipif(HostPeak.missing() is not None, reason=str(HostPeak.missing()))

MB = 1e6


class Counted(Peak):
    """A peak of made-up counts."""

    def __init__(self, counts):
        super().__init__()
        self._counts = iter(counts)

    def restart(self):
        return next(self._counts)

    def read(self):
        return next(self._counts)


def test_what_a_call_keeps_counts_in_the_next_one_and_nothing_in_between():
    # 100 before; a call that needs 50 and keeps 20; 1000 come in between; one that needs 40
    peak = Counted([100, (150, 120), 1120, (1160, 1120)])
    for expected in (50, 60):
        peak.begin()
        peak.end()
        assert peak.value == expected


def test_what_passes_counts_once():
    # 100 before; a call that needs 50, and leaves 20 behind that do not stay; one that needs 60
    peak = Counted([100, (150, 120), 100, (160, 100)])
    for keeps, expected in ((False, 50), (True, 60)):
        peak.begin()
        peak.end(keeps)
        assert peak.value == expected


@needs_linux
def test_the_peak_of_the_host_is_that_of_what_is_alive_at_once():
    kept = []
    for _ in range(2):  # the second time the allocator has freed pages to hand out
        peak = HostPeak()
        peak.begin()
        big = np.ones(int(150 * MB / 8))
        small = [np.ones(10_000) for _ in range(625)]  # 50 MB, which come from the heap
        kept += small[::50]  # what lies among them keeps them from being given back
        del big, small
        peak.end()
        assert peak.value == pytest.approx(200 * MB, rel=0.05)


@needs_linux
def test_memory_between_calls_does_not_count():
    peak = HostPeak()
    peak.begin()
    peak.end()
    between = np.ones(int(100 * MB / 8))
    peak.begin()
    peak.end()
    assert peak.value < 5 * MB < between.nbytes


def fake(monkeypatch, name, **module):
    library = SimpleNamespace(module=SimpleNamespace(**module))
    monkeypatch.setitem(LIBRARIES, name, library)


def test_the_peak_of_a_device_is_read_from_its_library(monkeypatch):
    held = {"now": 10, "top": 70}
    pool = SimpleNamespace(
        free_all_blocks=lambda: held.update(pool=held["now"]), total_bytes=lambda: held["pool"]
    )
    fake(monkeypatch, "cupy", get_default_memory_pool=lambda: pool)
    fake(
        monkeypatch, "torch",
        cuda=SimpleNamespace(
            reset_peak_memory_stats=lambda: held.update(top=held["now"]),
            memory_allocated=lambda: held["now"],
            max_memory_allocated=lambda: held["top"],
        ),
    )  # fmt: skip
    device = SimpleNamespace(
        memory_stats=lambda: {"peak_bytes_in_use": held["top"], "bytes_in_use": held["now"]}
    )
    fake(monkeypatch, "jax", devices=lambda kind: [device])
    for kind in (TorchPeak, JaxPeak, CuPyPeak):
        held.update(now=10, top=10, pool=30)
        peak = kind()
        peak.begin()
        held.update(now=40, top=90, pool=90)
        peak.end()
        assert peak.value == 80


@pytest.mark.parametrize(
    ("on", "kind"),
    [("torch:cuda/float32", TorchPeak), ("jax:cuda", JaxPeak), ("cupy", CuPyPeak)],
)
def test_each_library_of_a_device_has_a_peak(on, kind):
    assert isinstance(device_peak(place_of(on)), kind)
    assert device_peak(place_of("torch:cpu")) is None


@pytest.mark.parametrize("on", marked("torch:cuda", "jax:cuda", "cupy"))
def test_the_peak_of_a_gpu_is_that_of_its_arrays(on):
    place = place_of(on)
    if why := place.missing():
        pytest.skip(why)
    values = np.ones(int(100 * MB / 8))
    kept = place.array(values)
    peak = device_peak(place)
    peak.begin()
    two = [place.array(values) for _ in range(2)]
    place.wait([kept, *two])
    del two
    peak.end()
    assert peak.value == pytest.approx(200 * MB, rel=0.05)
