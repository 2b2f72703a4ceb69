"""Where AdaGrad begins, in all methods of this family that take its steps."""

GAMMA_0 = 1e-5
"""AdaGrad's first denominators, in units of the norm of the first gradient that is not zero.

Algorithms 2 and 3 of Jin et al. 2022 print the plain 1e-5, which stops all motion where gradients
are far smaller, as those of small data are: a gradient is as the data to the power 2d."""
