"""Generators of random numbers, and problems that are built from them."""

import numpy as np


def rng(seed=0):
    return np.random.default_rng(seed)


def built(problem, seed=0):
    return problem.build(rng(seed))
