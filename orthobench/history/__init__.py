"""The commits of a project, one after the other: results, work and times of a suite's cells.

`commits` finds the commits of a range. `follow` builds each and runs its cells, `times` compares
the times of neighbours, and both keep what they find in a `record`, so that nothing is done twice.
`curves` makes curves with their steps of it, `outputs` plain values and lines of text.
"""
