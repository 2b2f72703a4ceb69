"""What a solver's process writes is read as data, however its Python pickles it."""

import pickle

import pytest

from orthobench.harness.executors.messages import read
from orthobench.harness.stopping import RunStatus, Termination


class Reduced:
    """Pickled as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def test_messages_come_back():
    ended = Termination(RunStatus.DONE, "converged")
    assert read(pickle.dumps(ended)) == ended


def test_an_ending_comes_back_that_an_early_python_3_11_wrote():
    written = Reduced(Termination, (Reduced(getattr, (RunStatus, "DONE")), "converged"))
    assert read(pickle.dumps(written)) == Termination(RunStatus.DONE, "converged")


@pytest.mark.parametrize(
    "call",
    [(getattr, (RunStatus, "__init__")), (getattr, (Termination, "__init__")),
     (getattr, (Termination, "x")),
     (getattr, ("", "format")), (getattr, (RunStatus, "__class__")), (setattr, (RunStatus, "x", 1)),
     (delattr, (RunStatus, "DONE"))],
)  # fmt: skip
def test_no_other_attribute_does(call):
    with pytest.raises(pickle.UnpicklingError):
        read(pickle.dumps(Reduced(*call)))
