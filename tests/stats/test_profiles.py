"""Performance ratios, against a hand-worked example."""

import math

import numpy as np

from orthobench.stats.targets import performance_ratios

INF = math.inf


class TestPerformanceRatios:
    def test_ratios_of_a_hand_worked_example(self):
        costs = np.array([[1.0, 6.0, INF, 4.0], [2.0, 2.0, 5.0, INF], [8.0, INF, INF, 4.0]])
        wanted = [[1, 3, INF, 1], [2, 1, 1, INF], [8, INF, INF, 1]]
        np.testing.assert_array_equal(performance_ratios(costs), wanted)
