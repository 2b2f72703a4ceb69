"""Tools for all rooms: arrays, flops, kernels, files, processes, the machine."""
