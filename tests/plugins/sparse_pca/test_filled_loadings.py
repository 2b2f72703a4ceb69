"""solve_for_z through Gram matrices and without them: the same alternating steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from orthobench_sparse_pca import loadings
from orthobench_sparse_pca.loadings import solve_for_z

from orthobench.tools.geometry import polar, unit_columns

STEPS = 5


def plainly(A, inside, X, mu):
    """Alternate as Journée et al. (2010, Algorithm 6) print it."""
    for _ in range(STEPS):
        Z = unit_columns(np.where(inside, A @ X, 0.0))
        X = polar(A.T @ Z * mu)
    return unit_columns(np.where(inside, A @ X, 0.0))


@pytest.mark.parametrize("expected", [0, 10, 10_000])
@given(
    seed=st.integers(0, 2**32), d=st.integers(2, 60), n=st.integers(1, 8), share=st.floats(0.1, 1)
)
def test_both_forms_are_the_plain_alternation(expected, seed, d, n, share):
    rng = np.random.default_rng(seed)
    m = min(n, d)
    A, inside, mu = rng.standard_normal((d, n)), rng.random((d, m)) < share, 1 + rng.random(m)
    inside[rng.integers(d, size=m), np.arange(m)] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loadings, "EXPECTED_SWEEPS", expected)
        patch.setattr(loadings, "SWEEPS", STEPS)
        patch.setattr(loadings, "TOLERANCE", -1.0)
        Z = solve_for_z(A, inside, mu=mu)
    np.testing.assert_allclose(Z, plainly(A, inside, np.eye(n, m), mu), atol=1e-8)
