"""Private kernels of the generalized power method."""
