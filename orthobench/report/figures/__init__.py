"""Figures drawn by matplotlib, for screens and for papers."""
