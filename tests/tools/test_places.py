from dataclasses import replace

import numpy as np
import pytest
from gpu_places import marked
from hypothesis import given
from hypothesis import strategies as st

from orthobench.errors import UsageError
from orthobench.tools.array_libraries import LIBRARIES
from orthobench.tools.places import DEFAULT, Place, place_of

PLACES = st.sampled_from(sorted(LIBRARIES)).flatmap(
    lambda library: st.builds(
        Place,
        st.just(library),
        st.sampled_from(LIBRARIES[library].devices),
        st.sampled_from(LIBRARIES[library].dtypes),
    )
)


@given(PLACES)
def test_a_place_is_what_its_text_says(place):
    assert place_of(str(place)) == place


def test_what_is_left_out_is_the_default():
    for text, place, shortest in (
        ("numpy", DEFAULT, "numpy"),
        ("numpy:cpu/float64", DEFAULT, "numpy"),
        ("torch", Place("torch"), "torch:cpu"),
        ("torch:cuda/float32", Place("torch", "cuda", "float32"), "torch:cuda/float32"),
        ("cupy", Place("cupy", "cuda"), "cupy"),
        ("jax/float64", Place("jax"), "jax:cpu"),
    ):
        assert place_of(text) == place, text
        assert str(place) == shortest, text


def test_places_of_blocks_say_who_summarizes_them():
    for text, workers, address in (
        ("blocks", 0, None),
        ("dask:1", 1, None),
        ("dask:16", 16, None),
        ("dask:tcp://10.0.0.1:8786", 0, "tcp://10.0.0.1:8786"),
        ("dask:tls://[::1]:8786", 0, "tls://[::1]:8786"),
    ):
        place = place_of(text)
        assert (str(place), place.workers, place.address) == (text, workers, address), text
        assert (place.reduces, place.moves, place.is_default) == (True, False, False), text


def test_workers_need_what_makes_their_key(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert "openssl is not there" in place_of("dask:2").missing()
    assert place_of("blocks").missing() is None


def test_other_texts_are_refused():
    for text, message in (
        ("", "'' is no place to compute: write LIBRARY"),
        ("torch:cuda:0", "is no place to compute"),
        ("dask", "unknown array library 'dask'"),
        ("dask:0", "is no place to compute"),
        ("dask:http://here:8786", "is no place to compute"),
        ("blocks/float32", "unknown array library 'blocks'"),
        ("tensorflow", "unknown array library 'tensorflow'"),
        ("torch:gpu", "unknown device of torch 'gpu'"),
        ("numpy:cuda", "unknown device of numpy 'cuda'"),
        ("numpy/float16", "unknown precision of numpy 'float16'; did you mean 'float64' or"),
    ):
        with pytest.raises(UsageError, match=message):
            place_of(text)


@pytest.mark.parametrize("on", marked(*LIBRARIES, "torch:cuda", "jax:cuda"))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_arrays_come_back_as_they_went(on, dtype):
    place = replace(place_of(on), dtype=dtype)
    if why := place.missing():
        pytest.skip(why)
    values = np.random.default_rng(0).standard_normal((3, 2)).astype(dtype)
    there = place.array(values)
    back = place.to_numpy(there)
    assert back.dtype == dtype
    assert np.array_equal(back, values)
    values[:] = 0
    assert np.all(back != 0)
    assert np.array_equal(place.to_numpy(there), back)
    assert place.to_numpy(place.array(np.arange(3))).dtype == np.int64


def test_a_library_that_is_missing_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr("orthobench.tools.array_libraries.find_spec", lambda name: None)
    for on, distribution in (("torch", "torch"), ("jax", "jax"), ("cupy", "cupy-cuda12x")):
        why = f"{on} is not installed: pip install {distribution}"
        assert place_of(on).missing() == why, on


def test_what_a_run_depends_on_names_the_tolerance_of_a_gpu(monkeypatch):
    monkeypatch.setattr(type(LIBRARIES["torch"]), "facts", lambda library, device: {"torch": "9"})
    assert place_of("torch:cpu").facts() == {"torch": "9"}
    assert place_of("torch:cuda").facts() == {"torch": "9", "tolerance": "1e-09"}
    assert place_of("torch:cuda/float32").facts() == {"torch": "9", "tolerance": "0.002"}


def test_places_say_what_they_need_and_do():
    for on, packages, moves, compiles, tolerance in (
        ("numpy", (), False, False, 0), ("numpy/float32", ("numpy",), True, False, 0),
        ("torch", ("torch",), True, False, 0), ("torch:cuda", ("torch",), True, False, 1e-9),
        ("jax", ("jax",), True, True, 0), ("jax:cuda/float32", ("jax",), True, True, 2e-3),
        ("jax:cuda/bfloat16", ("jax",), True, True, 0.2),
        ("torch:cuda/float16", ("torch",), True, False, 0.05),
        ("blocks", (), False, False, 0), ("dask:2", ("distributed",), False, False, 0),
        ("dask:tcp://here:1", ("distributed",), False, False, 0),
    ):  # fmt: skip
        place = place_of(on)
        assert place.packages == packages, on
        assert (place.moves, place.compiles, place.tolerance) == (moves, compiles, tolerance), on


def test_too_many_workers_are_refused(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("shutil.which", lambda program: program)
    monkeypatch.setattr("orthobench.tools.places.find_spec", lambda name: name)
    assert place_of("dask:32").missing() is None
    assert place_of("dask:33").missing().startswith("more than 32 workers are too many")
    assert place_of("dask:tcp://here:99").missing() is None
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert place_of("dask:16").missing() is None
    assert place_of("dask:17").missing().startswith("more than 16 workers are too many")
    monkeypatch.setattr("orthobench.tools.places.find_spec", lambda name: None)
    assert "pip install 'orthobench[dask]'" in place_of("dask:1").missing()
    assert place_of("blocks").missing() is None
    assert DEFAULT.missing() is None


def test_only_what_moves_is_waited_for_and_limited(monkeypatch):
    called = []
    library = type(LIBRARIES["torch"])
    monkeypatch.setattr(library, "wait", lambda self, values, device: called.append(device))
    monkeypatch.setattr(library, "limit", lambda self, threads: called.append(threads))
    for on in ("torch:cuda", "blocks", "numpy"):
        place_of(on).wait([1])
        place_of(on).limit(3)
    assert called == ["cuda", 3]


def test_blocks_depend_on_the_version_of_what_summarizes_them(monkeypatch):
    monkeypatch.setattr("orthobench.tools.places.version", lambda name: {"distributed": "9"}[name])
    assert place_of("dask:2").facts() == {"distributed": "9"}
    assert place_of("blocks").facts() == {}
