"""The commits of a project, one after the other: results and work of a suite's cells.

`commits` finds the commits of a range. `follow` builds each, runs its cells as `compare` does, and
keeps the runs in a `record`. `curves` makes curves and steps of them, `outputs` JSON and text.
"""
