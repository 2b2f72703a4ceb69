"""The commits of a project, one after the other: results, work and times of a suite's cells.

`commits` finds the commits of a range. `follow` builds each and has `compare` run its cells,
`times` compares the times of neighbours, and both keep what they find in a `record`, so that
nothing is done twice. `curves` makes curves and steps of it, `outputs` plain values and text.
"""
