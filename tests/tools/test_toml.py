"""Documents that would take gigabytes or hours to parse."""

import os
import tomllib

import pytest

from orthobench.tools import toml

MANY = 20_000

LONG_KEYS = [
    "{}=1", "[{}]", "[[{}]]", "x = {{ {}=1 }}", 'x = ["""\n""", {{ {}=1 }}]',
    "x = ['''it's''', {{ {}=1 }}]", 'x = ["""a""""", {{ {}=1 }}]', 'x = ["\\"", {{ {}=1 }}]',
    "x = 1 # '\n{}=1", 'x = """ \\""" "#" """\n{}=1', "x = '''a''''\n{}=1",
]  # fmt: skip


@pytest.mark.parametrize("document", LONG_KEYS)
@pytest.mark.parametrize("dotted", ["a.", "'a'.", '"a\\"".', 'b . "c"\t.'])
def test_long_keys_are_refused_wherever_they_hide(document, dotted):
    key = dotted * MANY + "z"
    with pytest.raises(tomllib.TOMLDecodeError, match="a key of more than 16 parts"):
        toml.loads(document.format(key))
    short = document.format(dotted * 3 + "z")
    assert toml.loads(short) == tomllib.loads(short)


@pytest.mark.parametrize(
    "text",
    [
        "x = 'a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t'  # a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s",
        'x = """\na.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t\n"a" """\ny = 1',
        f"x = [{', '.join(['0.5', '1e-3', '-2.25'] * 100)}]",
        "x.a.b = 1\nx.a.c = 1\nx.b = 1\ny.a.b = 1\nz = '' # ...................",
    ],
)
def test_what_is_no_key_may_have_any_number_of_dots(text):
    assert toml.loads(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = " + "[" * MANY, "nested too deeply"),
        ("x = " + "{a=" * MANY, "nested too deeply"),
        ("x = " + "9" * MANY, "Exceeds the limit"),
        ("x = 'a'\n" * 2**18, "characters, where 1,048,576 are allowed"),
        ('x = "' + '\\"' * MANY, "Invalid|Expected|Unterminated|Illegal"),
        ("a" * 2**20, "Expected"),
        ('"' * 2**20, "Invalid|Expected|Unterminated|Illegal"),
        ("'\"" * 2**19, "Invalid|Expected|Unterminated|Illegal"),
        (" . \t" * 2**18, "Invalid|Expected|Unterminated|Illegal"),
    ],
)
def test_other_costly_documents_are_refused_at_once(text, said):
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
