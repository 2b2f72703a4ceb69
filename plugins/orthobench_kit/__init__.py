"""Mathematics, readers of data and bases of wrappers that several families share.

It brings the suites that compare solvers of all families.
"""

from orthobench.contract import discovered

_, _, orthobench_suites = discovered(__name__)
