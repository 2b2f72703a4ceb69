"""BASE against HEAD: whether the result is worse, the work larger, a unit of work slower.

Data flow one way here too. `naming` says what BASE and HEAD mean, `building` builds environments
for them, and `sides` looks whether these really import what they are to compare. `worker` runs in
a process of either, which `process` talks to; `shown` asks for the curve of every cell, or reads it
from a store; `exact` compares what does not depend on a clock, `interleave` times both sides side
by side, and `timed` says what that shows. `comparison` is what all of it gives; `lines`,
`markdown`, `junit` and `facts` tell it.
"""
