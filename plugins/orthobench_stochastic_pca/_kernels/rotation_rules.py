"""The numbers of the rules by which bases are rotated, for steps and kernels alike."""

from __future__ import annotations

OJA, GEODESIC, KRASULINA = 0, 1, 2
"""The angles of the methods: `orthobench_stochastic_pca._kernels.rotations`."""
