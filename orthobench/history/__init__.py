"""The commits of a project, one after the other: results, work and times of a suite's cells.

`follow` finds the commits of a range, builds each, runs its cells as `compare` does, and keeps the
runs in a record. `times` times neighbouring commits. `curves` makes curves and steps of both, as
JSON and as text.
"""
