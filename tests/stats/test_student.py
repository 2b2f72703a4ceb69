"""Student's t quantiles against SciPy's."""

from __future__ import annotations

import pytest
from scipy.stats import t

from orthobench.stats.bootstrap import student_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 10, 11, 30, 99, 1000])
@pytest.mark.parametrize("probability", [0.5, 0.6, 0.95, 0.975, 0.9995])
def test_quantiles_are_those_of_scipy(freedom, probability):
    assert student_quantile(probability, freedom) == pytest.approx(
        t.ppf(probability, freedom), rel=1e-9, abs=1e-12
    )
