"""Private kernels of this package."""
