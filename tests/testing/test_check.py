"""A check: what it makes of errors, warnings and prerequisites, and of what cannot be checked."""

import signal
import threading
import warnings

import pytest

from orthobench.errors import UsageError
from orthobench.testing import check_problem
from orthobench.testing.check import (
    Check,
    CheckStatus,
    NotCheckable,
    NotConforming,
    require,
    time_limit,
)


def raising(error, name="it", *prerequisites):
    def function(*subject):
        if error is not None:
            raise error

    return Check(name, "what it requires", function, prerequisites)


def test_a_fault_is_what_was_seen_and_what_to_do():
    fault = NotConforming("it is seen", "Do something")
    assert str(fault) == "it is seen. Do something."
    assert (fault.observed, fault.remedy) == ("it is seen", "Do something")
    require([1], "no", "no")
    with pytest.raises(NotConforming, match=r"it is seen\. Do something\."):
        require([], "it is seen", "Do something")


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
def test_the_result_of_a_check_is_that_of_its_function(error, status, message):
    result = raising(error).result()
    assert (result.check, result.status) == ("it", status)
    assert result.message.startswith(message)
    assert message or result.message == ""


def test_a_read_only_array_has_a_remedy_of_its_own():
    read_only = raising(ValueError("assignment destination is read-only")).result().message
    assert "copy them before you write into them" in read_only
    assert "copy" not in raising(ValueError("other")).result().message


def test_where_a_prerequisite_fails_too_the_check_says_nothing():
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


def test_a_check_raises_what_it_found_with_its_cause():
    cause = KeyError("x")
    with pytest.raises(NotConforming) as found:
        raising(cause)()
    assert found.value.__cause__ is cause
    with pytest.raises(NotCheckable, match="why"):
        raising(NotCheckable("why"))()


def test_warnings_are_left_to_the_check_that_looks_for_them():
    def warn():
        warnings.warn("loud", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Check("it", "", warn).result().status is CheckStatus.PASSED


def test_all_checks_of_a_problem_are_made_and_its_failures_told_together(toys):
    results = check_problem(toys.Problem())
    assert {result.status for result in results} == {CheckStatus.PASSED}

    class Wrong(toys.Problem):
        name = "wrong"
        primary = "other"

    with pytest.raises(NotConforming, match=r"problem wrong fails \d of 11 checks\n  judge: ") as f:
        check_problem(Wrong())
    assert str(f.value).endswith("Correct them in this order.")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="POSIX alone has such alarms")
def test_a_check_without_an_end_is_cut_and_others_of_the_class_are_not_made(monkeypatch):
    monkeypatch.setattr("orthobench.testing.check.LIMIT", 0.05)

    class Endless:
        pass

    def cycle(subject):
        while True:
            pass

    first, second = Check("first", "ends", cycle), Check("second", "ends", cycle)
    result = first.result(Endless())
    assert result.status is CheckStatus.FAILED
    assert "it was cut by the limit of 0.05 s, in the check 'first'" in result.message
    other = second.result(Endless())
    assert other.status is CheckStatus.NOT_CHECKABLE
    assert "'first'" in other.message
    fine = Check("fine", "ends", len)
    assert fine.result([]).status is CheckStatus.PASSED
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no interval timers")
@pytest.mark.parametrize("processor", [False, True])
class TestTimeLimit:
    def test_ends_what_computes_for_too_long(self, processor):
        def compute():
            with time_limit(0.01, NotConforming("slow", "Be quick"), processor=processor):
                while True:
                    pass

        with pytest.raises(NotConforming, match="Be quick"):
            compute()

    def test_is_gone_afterwards(self, processor):
        number = signal.SIGPROF if processor else signal.SIGALRM
        timer = signal.ITIMER_PROF if processor else signal.ITIMER_REAL
        before = signal.getsignal(number)
        with time_limit(30.0, NotConforming("", ""), processor=processor):
            assert signal.getitimer(timer)[0] > 1
            assert signal.getsignal(number) is not before
        assert signal.getitimer(timer) == (0, 0)
        assert signal.getsignal(number) is before

    def test_is_none_in_another_thread(self, processor):
        seen = []

        def limited():
            with time_limit(30.0, NotConforming("", ""), processor=processor):
                seen.append(signal.getitimer(signal.ITIMER_PROF if processor else 0))

        thread = threading.Thread(target=limited)
        thread.start()
        thread.join()
        assert seen == [(0, 0)]
