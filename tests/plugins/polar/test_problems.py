"""Problems of polar factors, torch's Muon, and what is recorded of a network."""

import numpy as np
import pytest
from orthobench_polar.problems import recording
from orthobench_polar.problems.spectra import (
    CauchyPolar,
    GaussianPolar,
    NetworkPolar,
    PrescribedSpectrum,
    ScaledColumns,
)


def built(problem):
    return problem.build(np.random.default_rng(0)).oracle


@pytest.mark.parametrize("cls", [GaussianPolar, CauchyPolar, ScaledColumns, PrescribedSpectrum])
def test_shapes_are_rows_over_columns_and_batches(cls):
    assert built(cls(p=6, aspect=1.4)).A.shape == (8, 6)
    assert built(cls(p=6)).A.shape == (6, 6)
    oracle = built(cls(p=4, aspect=2.0, batch=3))
    assert oracle.A.shape == oracle.sizes == (3, 8, 4)
    assert (oracle.n, oracle.k) == (24, 4)


def test_spectra_are_as_they_are_said():
    def values(spectrum, p=5, condition=100.0):
        return PrescribedSpectrum(p=p, spectrum=spectrum, condition=condition).values()

    np.testing.assert_allclose(values("log-uniform"), 10.0 ** -np.arange(0, 2.1, 0.5))
    assert values("clustered").tolist() == [1, 1, 1, 0.01, 0.01]
    assert values("clustered", 4).tolist() == [1, 1, 0.01, 0.01]
    power = np.log(100) / np.log(5)
    np.testing.assert_allclose(values("heavy-tail"), np.arange(1.0, 6) ** -power)
    np.testing.assert_allclose(values("heavy-tail", 2), [1, 2.0 ** -np.log(100)])
    assert np.count_nonzero(values("deficient", 8)) == 6
    assert np.count_nonzero(values("deficient", 3)) == 3


def test_columns_fall_by_the_scale():
    A = built(ScaledColumns(p=5, aspect=400.0, scale=16.0)).A
    lengths = np.linalg.norm(A, axis=0)
    np.testing.assert_allclose(lengths / lengths[0], 2.0 ** -np.arange(5), rtol=0.1)


def test_the_seed_draws_a_training_step():
    problem = NetworkPolar(kind="weight", layer="expand")
    found = {problem.build(np.random.default_rng(s)).oracle.A.tobytes() for s in range(12)}
    assert len(found) == len(recording.RECORDED_STEPS) == 4
