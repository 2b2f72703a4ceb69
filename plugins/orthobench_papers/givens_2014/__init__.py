"""Shalit and Chechik 2014: Efficient coordinate-descent through Givens rotations."""
