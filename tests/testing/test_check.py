"""The result of a check: errors, warnings, prerequisites, and impossible checks."""

import warnings

import pytest

from orthobench.errors import UsageError
from orthobench.testing import check_problem
from orthobench.testing.check import Check, CheckStatus, NotCheckable, NotConforming


def raising(error, name="it", *prerequisites):
    def function(*subject):
        if error is not None:
            raise error

    return Check(name, "requirement", function, prerequisites)


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (None, CheckStatus.PASSED, ""),
        (NotConforming("seen", "Do"), CheckStatus.FAILED, "seen. Do."),
        (NotCheckable("no data"), CheckStatus.NOT_CHECKABLE, "no data"),
        (
            KeyError("x"),
            CheckStatus.FAILED,
            "it raised an error in the check 'it': KeyError('x') (test_check.py, line ",
        ),
        (UsageError("n is 3"), CheckStatus.FAILED, "it raised an error in the check 'it': n is 3."),
    ],
)
def test_an_error_becomes_the_result_of_the_check(error, status, message):
    result = raising(error).result()
    assert (result.check, result.status) == ("it", status)
    assert result.message.startswith(message)
    assert message or result.message == ""


def test_a_check_defers_to_a_prerequisite_that_fails():
    fault, none = NotConforming("seen", "Do"), None
    for first, second, status in (
        (none, none, CheckStatus.FAILED), (fault, none, CheckStatus.NOT_CHECKABLE),
        (none, KeyError(), CheckStatus.NOT_CHECKABLE),
        (NotCheckable("x"), none, CheckStatus.FAILED),
    ):  # fmt: skip
        others = raising(first, "first"), raising(second, "second")
        result = raising(fault, "it", *others).result()
        assert result.status is status
        if status is CheckStatus.NOT_CHECKABLE:
            name = "first" if first else "second"
            assert result.message == f"the check {name!r} fails, which comes first"
    assert raising(None, "it", raising(fault)).result().status is CheckStatus.PASSED
    assert raising(NotCheckable("why"), "it", raising(fault)).result().message == "why"


def test_warnings_are_left_to_the_check_that_looks_for_them():
    def warn():
        warnings.warn("loud", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Check("it", "", warn).result().status is CheckStatus.PASSED


def test_all_faults_of_a_problem_are_in_one_error(toys):
    results = check_problem(toys.Problem())
    assert {result.status for result in results} == {CheckStatus.PASSED}
    assert repr(results).splitlines() == [f"{one.check}: passed" for one in results]

    class Wrong(toys.Problem):
        name = "wrong"
        primary = "other"

    with pytest.raises(NotConforming, match=r"problem wrong fails \d of 11 checks\n  judge: ") as f:
        check_problem(Wrong())
    assert str(f.value).endswith("Correct them in this order.")
