"""Limits of memory, of the machine and of a container."""

import pytest
from orthobench_kit import memory
from orthobench_kit.memory import refusal_of


@pytest.fixture
def limits(tmp_path, monkeypatch):
    """Set the machine's memory and the texts of the container's files."""

    def set_to(physical, *texts):
        paths = []
        for i, text in enumerate(texts):
            path = tmp_path / f"limit{i}"
            path.unlink(missing_ok=True)
            if text is not None:
                path.write_text(text, encoding="ascii")
            paths.append(str(path))
        monkeypatch.setattr(memory, "_CGROUPS", tuple(paths))
        monkeypatch.setattr(memory, "_physical", lambda: physical)
        memory.total.cache_clear()

    yield set_to
    memory.total.cache_clear()


def test_the_least_limit_counts(limits):
    for physical, texts, expected in (
        (8000, ("max\n",), 8000),
        (8000, ("5000\n", None), 5000),
        (8000, (None, "9223372036854771712\n"), 8000),
        (8000, ("7000\n", "6000\n"), 6000),
        (8000, (), 8000),
        (None, ("5000\n",), 5000),
        (None, (None,), None),
        (8000, ("nonsense",), 8000),
    ):
        limits(physical, *texts)
        assert memory.total() == expected, (physical, texts)


def test_too_large_data_are_refused_with_both_sizes(limits):
    limits(3 * 2**30)
    assert refusal_of(3 * 2**30, "the tensor") is None
    assert refusal_of(3 * 2**30 + 1, "it") is not None
    why = refusal_of(5 * 2**40, "the tensor")
    assert why == "the tensor needs 5.0 TiB of memory, and there are 3.0 GiB"
    limits(None)
    assert refusal_of(2**80, "the tensor") is None
