"""BASE against HEAD: whether a result is worse, the work larger, or a run slower or larger.

Questions and limits are in `options`. BASE and HEAD are looked up in `sides`, and get an interpreter
each in `environments`. The code in it is `remote`, and its parent `process`, with the names of
`protocol`. The runs are made in `cells` and timed in `timing`. Their `comparison`, with the
`changes`, is made in `run` and written by `reports`.
"""
