"""Student's t quantiles against SciPy's."""

from __future__ import annotations

import pytest
from scipy.stats import t

from orthobench.stats.bootstrap import student_quantile


def test_quantiles_are_those_of_scipy():
    for freedom in (1, 2, 3, 4, 5, 10, 11, 30, 99, 1000):
        for probability in (0.5, 0.6, 0.95, 0.975, 0.9995):
            expected = pytest.approx(t.ppf(probability, freedom), rel=1e-9, abs=1e-12)
            assert student_quantile(probability, freedom) == expected, (freedom, probability)
