"""Arora, Cotter and Srebro 2013: Stochastic Optimization of PCA with Capped MSG."""
