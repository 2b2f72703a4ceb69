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


@pytest.mark.parametrize(
    ("text", "place", "shortest"),
    [
        ("numpy", DEFAULT, "numpy"),
        ("numpy:cpu/float64", DEFAULT, "numpy"),
        ("torch", Place("torch"), "torch:cpu"),
        ("torch:cuda/float32", Place("torch", "cuda", "float32"), "torch:cuda/float32"),
        ("cupy", Place("cupy", "cuda"), "cupy"),
        ("jax/float64", Place("jax"), "jax:cpu"),
    ],
)
def test_what_is_left_out_is_the_default(text, place, shortest):
    assert place_of(text) == place
    assert str(place) == shortest


@pytest.mark.parametrize(
    ("text", "workers", "address"),
    [
        ("blocks", 0, None),
        ("dask:1", 1, None),
        ("dask:16", 16, None),
        ("dask:tcp://10.0.0.1:8786", 0, "tcp://10.0.0.1:8786"),
        ("dask:tls://[::1]:8786", 0, "tls://[::1]:8786"),
    ],
)
def test_places_of_blocks_say_who_summarizes_them(text, workers, address):
    place = place_of(text)
    assert (str(place), place.workers, place.address) == (text, workers, address)
    assert (place.reduces, place.moves, place.is_default) == (True, False, False)


def test_workers_need_what_makes_their_key(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda program: None)
    assert "openssl is not there" in place_of("dask:2").missing()
    assert place_of("blocks").missing() is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
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
    ],
)
def test_other_texts_are_refused(text, message):
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
    assert place.to_numpy(place.array(np.arange(3))).dtype == np.int64


@pytest.mark.parametrize(
    ("on", "distribution"), [("torch", "torch"), ("jax", "jax"), ("cupy", "cupy-cuda12x")]
)
def test_a_library_that_is_missing_is_named_with_its_remedy(monkeypatch, on, distribution):
    monkeypatch.setattr("orthobench.tools.array_libraries.find_spec", lambda name: None)
    why = f"{on} is not installed: pip install {distribution}"
    assert place_of(on).missing() == why


def test_what_a_run_depends_on_names_the_tolerance_of_a_gpu(monkeypatch):
    monkeypatch.setattr(type(LIBRARIES["torch"]), "facts", lambda library, device: {"torch": "9"})
    assert place_of("torch:cpu").facts() == {"torch": "9"}
    assert place_of("torch:cuda").facts() == {"torch": "9", "tolerance": "1e-09"}
    assert place_of("torch:cuda/float32").facts() == {"torch": "9", "tolerance": "0.002"}
