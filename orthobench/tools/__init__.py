"""What every room may use, and what knows of no room: arrays, flops, kernels, files, threads."""
