"""Documents that would take gigabytes or hours to parse."""

import os
import tomllib

import pytest

from orthobench.tools import toml

MANY = 20_000


def test_long_keys_are_refused_wherever_they_are():
    for document in ("{}=1", "[{}]", "x = [{{ {}=1 }}]", "x = 1 # '\n{}=1"):
        for dotted in ("a.", "'a'.", '"a\\"".', 'b . "c"\t.'):
            with pytest.raises(
                tomllib.TOMLDecodeError, match=r"line . has more than 100 dots: split it"
            ):
                toml.loads(document.format(dotted * MANY + "z"))
            short = document.format(dotted * 3 + "z")
            assert toml.loads(short) == tomllib.loads(short), (document, dotted)


def test_other_costly_documents_are_refused_at_once():
    for text, said in (
        ("x = " + "[" * MANY, "nested too deeply"),
        ("x = " + "{a=" * MANY, "nested too deeply"),
        ("x = " + "9" * MANY, "Exceeds the limit"),
        ("x = 'a'\n" * 2**18, "it has more than 1,048,576 characters"),
        ('x = "' + '\\"' * MANY, "Invalid|Expected|Unterminated|Illegal"),
        ("a" * 2**20, "Expected"),
        ('"' * 2**20, "Invalid|Expected|Unterminated|Illegal"),
        ("'\"" * 2**19, "Invalid|Expected|Unterminated|Illegal"),
        (" . \t" * 2**18, "more than 100 dots"),
    ):
        with pytest.raises(tomllib.TOMLDecodeError, match=said):
            toml.loads(text)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_not_waited_for_and_a_large_file_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        toml.text_of(tmp_path / "pipe")
    (tmp_path / "large").write_text("#" * (toml.MOST_CHARACTERS + 1))
    with pytest.raises(OSError, match="more than 1,048,576 characters"):
        toml.text_of(tmp_path / "large")


def test_the_mark_that_notepad_writes_before_a_text_is_no_part_of_it(tmp_path):
    file = tmp_path / "suite.toml"
    file.write_text("seeds = 2\n", encoding="utf-8-sig")
    assert toml.loads(toml.text_of(file)) == {"seeds": 2}
