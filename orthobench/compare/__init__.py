"""BASE against HEAD: whether a result is worse, the work larger, or a run slower or larger.

Data flow one way here, too. `options` is what is asked. `sides` finds out what BASE and HEAD mean,
and `environments` gives each side a sealed interpreter. `remote` runs in that interpreter;
`process` talks to it, in the names of `protocol`. `cells` collects the runs of both sides, and
`changes` says how the sides differ. `orthobench.stats.run_pairs` compares what does not depend on a
clock, and `timing` times both sides side by side. `run` makes a `comparison` of it all, a table of
findings that `reports` writes down.
"""
