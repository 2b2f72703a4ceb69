"""Features of an atlas's problems: never of files that a store names."""

import math
from dataclasses import replace

from orthobench.atlas.collect import described
from orthobench.atlas.table import Atlas


def test_problems_get_features_unless_they_name_files(rows):
    one = rows(problems=1, solvers=1, seeds=1)[0]
    known = replace(one, name="spiked-covariance", parameters='{"n": 30, "k": 2}')
    files = replace(one, name="npy-stochastic-pca", parameters='{"path": "X.npy", "k": 2}')
    first, second = described(Atlas((known, files))).rows
    assert (first.d, first.k) == (30, 2)
    assert first.decay > 1
    assert (second.d, math.isnan(second.decay)) == (files.d, math.isnan(files.decay))
