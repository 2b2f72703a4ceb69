"""Plots drawn by matplotlib, for screens and for paper."""
