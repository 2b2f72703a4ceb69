"""BASE against HEAD: whether the result is worse, the work larger, or the time longer.

Data flow one way here too: `sides` says what BASE and HEAD are and builds their environments,
`worker` runs in them, `interleave` times them side by side, `exact` compares what does not depend
on a clock, `comparison` is what all of it gives; `lines`, `markdown`, `junit` and `facts` tell it.
"""
