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


def test_omitted_parts_of_a_place_are_the_default():
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


def test_workers_that_no_machine_has_processors_for_are_refused(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr("shutil.which", lambda _: "openssl")
    monkeypatch.setattr("orthobench.tools.places.find_spec", lambda _: object())
    assert place_of("dask:32").missing() is None
    assert place_of("dask:33").missing() == (
        "more than 32 workers are too many for the processors of this machine"
    )


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


def test_facts_of_a_gpu_have_its_tolerance(monkeypatch):
    monkeypatch.setattr(type(LIBRARIES["torch"]), "facts", lambda library, device: {"torch": "9"})
    assert place_of("torch:cpu").facts() == {"torch": "9"}
    assert place_of("torch:cuda").facts() == {"torch": "9", "tolerance": "1e-09"}
    assert place_of("torch:cuda/float32").facts() == {"torch": "9", "tolerance": "0.002"}
