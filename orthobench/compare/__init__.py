"""BASE against HEAD: whether a result is worse, the work larger, or a unit of work slower.

Data flow one way here, too. `environments` finds out what BASE and HEAD mean, and gives each live
side an interpreter. `remote` runs in that interpreter; `process` talks to it, in the names of
`protocol`. `cells` collects the `curves` of both sides' cells, live or from a store. `exact`
compares what does not depend on a clock, and `timing` times both sides side by side. `run` makes a
`comparison` of it all, and `reports` writes that down for people and for machines.
"""
