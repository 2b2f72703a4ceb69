"""Plots as plain data, independent of who draws them."""
