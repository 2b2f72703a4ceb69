"""Runs over blocks of samples, which are summarized, and merged along a tree."""
