"""Mathematics, data readers and base classes that several families share."""

from orthobench.contract import discovered

_, _, orthobench_suites = discovered(__name__)
