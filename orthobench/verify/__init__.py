"""Verification: whether the results in a store come out again when they are computed here."""
