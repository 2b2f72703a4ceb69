"""What a solver's process writes is read as data, however its Python pickles it."""

import pickle

import pytest

from orthobench.harness.executors.messages import Begun, Ended, read
from orthobench.harness.stopping import Ending, Stop


class Reduced:
    """Pickled as a call."""

    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def test_messages_come_back():
    ended = Ended(Stop(Ending.DONE, "converged"))
    assert read(pickle.dumps(ended)) == ended


def test_an_ending_comes_back_that_an_early_python_3_11_wrote():
    written = Reduced(Stop, (Reduced(getattr, (Ending, "DONE")), "converged"))
    assert read(pickle.dumps(written)) == Stop(Ending.DONE, "converged")


@pytest.mark.parametrize(
    "call",
    [(getattr, (Ending, "__init__")), (getattr, (Stop, "__init__")), (getattr, (Begun(), "x")),
     (getattr, ("", "format")), (getattr, (Ending, "__class__")), (setattr, (Ending, "x", 1)),
     (delattr, (Ending, "DONE"))],
)  # fmt: skip
def test_no_other_attribute_does(call):
    with pytest.raises(pickle.UnpicklingError):
        read(pickle.dumps(Reduced(*call)))
