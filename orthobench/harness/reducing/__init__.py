"""Runs over blocks of samples: summarized where they are, and merged along a tree."""
