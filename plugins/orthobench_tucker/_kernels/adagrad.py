"""The initial value of AdaGrad's denominators, common to the methods that take its steps."""

GAMMA_0 = 1e-5
"""AdaGrad's initial denominators, relative to the norm of the first gradient that is not zero.

Algorithms 2 and 3 of Jin et al. (2022) have the plain 1e-5. That stops all motion where gradients
are far smaller, as for small data: a gradient scales like the data to the power 2d."""
