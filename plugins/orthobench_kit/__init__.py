"""Mathematics, data readers and base classes that several families share.

Its suites compare solvers of all families.
"""

from orthobench.contract import discovered

_, _, orthobench_suites = discovered(__name__)
