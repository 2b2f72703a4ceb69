"""The child's end of a worker process: messages, and its search path."""

import io
import os
import sys

import pytest

from orthobench.tools.child import LENGTH, Channel, search_path


def channel(data=b"", codec="pickle", **more):
    return Channel(io.BytesIO(data), io.BytesIO(), codec, **more)


@pytest.mark.parametrize("codec", ["pickle", "json"])
def test_messages_come_out_as_they_went_in_and_none_at_the_end(codec):
    sent = channel(codec=codec)
    messages = ["a", {"b": [1, 2.5]}, "x" * 10**5, 0, ""]
    for message in messages:
        sent.send(message)
    received = channel(sent._outgoing.getvalue(), codec)
    assert [received.receive() for _ in messages] == messages
    assert received.receive() is None


def test_a_message_that_is_cut_is_none():
    sent = channel()
    sent.send("message")
    whole = sent._outgoing.getvalue()
    assert LENGTH.unpack(whole[: LENGTH.size]) == (len(whole) - LENGTH.size,)
    for length in (1, LENGTH.size - 1, LENGTH.size, len(whole) - 1):
        assert channel(whole[:length]).receive() is None
    assert channel(whole).receive() == "message"


def test_the_current_folder_comes_last_unless_this_interpreter_has_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here, parents = os.path.realpath(tmp_path), ["/a", str(tmp_path), "", "/b"]
    monkeypatch.setattr(sys, "path", ["/python"])
    assert search_path(parents) == ["/a", "/b", str(tmp_path), ""]
    monkeypatch.setattr(sys, "path", ["/python", here])
    assert search_path(parents) == parents
