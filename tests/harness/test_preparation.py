"""Samples are prepared for whole steps: as many as fit into the window, and one at least."""

from orthobench.harness.execution import prepare_steps


class Rows:
    """An oracle that says how many samples it was to prepare."""

    window = 7

    def __init__(self, left):
        self.left, self.prepared = left, []

    def prepare(self, samples):
        self.prepared.append(samples)

    def remaining(self):
        return self.left


def test_as_many_steps_as_window_and_data_have():
    for batch, wanted, left, prepared, steps in (
        (3, 9, 100, [6], 2), (3, 1, 100, [3], 1), (9, 5, 100, [9], 1), (3, 9, 5, [6], 2),
        (3, 9, 2, [6], 1), (3, 9, 0, [6], 0), (0, 9, 0, [], 9),
    ):  # fmt: skip
        rows = Rows(left)
        assert prepare_steps(rows, batch, wanted) == steps, (batch, wanted, left)
        assert rows.prepared == prepared, (batch, wanted, left)
        assert all(type(samples) is int for samples in rows.prepared), (batch, wanted, left)
