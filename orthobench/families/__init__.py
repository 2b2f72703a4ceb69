"""What is optimized: a folder a family, with its oracle, its judge and its makers of instances."""
