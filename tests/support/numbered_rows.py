"""Rows of numbers that count up, and the blocks that a source makes of them."""

import numpy as np

D = 3


def rows(count):
    return np.arange(float(count * D)).reshape(count, D)


def read(source, seed=0):
    return list(source.blocks(np.random.default_rng(seed)))


def lengths(blocks):
    return [len(block) for block in blocks]
