"""BASE against HEAD: whether a result is worse, the work larger, or a run slower or larger.

Questions and limits are in `options`. BASE and HEAD are looked up in `sides`, which builds an
interpreter for each. The code in it is `remote`, and the names that it uses of another orthobench
are in `protocol`. The cells run in `cells` and are timed in `timing`. Their `comparison` is made in
`run`, with the `changes`, and written by `reports`.
"""
