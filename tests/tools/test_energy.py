"""Energy, from a made-up tree of counters."""

import pytest

from orthobench.tools import energy
from orthobench.tools.energy import HostJoules

TURN = 1_000_000_000
"""Microjoules at which a counter of the tree begins anew."""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setattr(energy, "POWERCAP", tmp_path)
    for folder, name in [
        ("intel-rapl:0", "package-0"),
        ("intel-rapl:0:0", "core"),  # contained in the package
        ("intel-rapl:0:1", "dram"),
        ("intel-rapl:1", "psys"),  # contains the package
    ]:
        zone = tmp_path / folder
        zone.mkdir()
        (zone / "name").write_text(f"{name}\n")
        (zone / "max_energy_range_uj").write_text(f"{TURN}\n")
        (zone / "energy_uj").write_text("0\n")
    (tmp_path / "intel-rapl").mkdir()

    def set_counter(folder, microjoules):
        (tmp_path / folder / "energy_uj").write_text(f"{microjoules}\n")

    return set_counter


def test_processors_and_their_memory_count_once_each(tree):
    assert HostJoules.missing() is None
    joules = HostJoules()
    joules.begin()
    for folder in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:1"):
        tree(folder, 2_000_000)
    joules.end()
    assert joules.value == pytest.approx(4.0)


def test_what_is_taken_between_calls_does_not_count(tree):
    joules = HostJoules()
    for before, after in ((0, 3_000_000), (50_000_000, 54_000_000)):
        tree("intel-rapl:0", before)
        joules.begin()
        tree("intel-rapl:0", after)
        joules.end()
    assert joules.value == pytest.approx(7.0)


def test_a_counter_may_begin_anew(tree):
    joules = HostJoules()
    tree("intel-rapl:0", TURN - 1_000_000)
    joules.begin()
    tree("intel-rapl:0", 1_500_000)
    joules.end()
    assert joules.value == pytest.approx(2.5)


def test_without_a_counter_there_is_a_reason(tree, tmp_path, monkeypatch):
    (tmp_path / "intel-rapl:0" / "energy_uj").unlink()
    assert "cannot be read" in (HostJoules.missing() or "")
    monkeypatch.setattr(energy, "POWERCAP", tmp_path / "none")
    assert "there is no counter" in (HostJoules.missing() or "")


def test_the_counter_of_a_device_needs_its_library(monkeypatch):
    monkeypatch.setattr(energy, "find_spec", lambda name: None)
    why = "pynvml is not installed: pip install nvidia-ml-py"
    assert energy.DeviceJoules.missing() == why


def test_a_device_without_a_counter_has_a_reason(monkeypatch):
    def fails():
        raise RuntimeError("no driver")

    monkeypatch.setattr(energy, "find_spec", lambda name: name)
    monkeypatch.setattr(energy, "_nvml", fails)
    assert (energy.DeviceJoules.missing() or "").endswith("here (no driver)")
