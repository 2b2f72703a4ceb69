"""What any room may use and knows nothing of benchmarks: arrays, flops, kernels, files, threads."""
