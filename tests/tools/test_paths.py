"""Home in texts that others read."""

import pytest

from orthobench.tools.files import hide_home


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("USERPROFILE", "/home/ada")


def test_home_is_a_tilde():
    for text, told in (
        ("/home/ada", "~"),
        ("orthobench run /home/ada/x.toml", "orthobench run ~/x.toml"),
        ("--store=/home/ada/r.sqlite", "--store=~/r.sqlite"),
        ('File "/home/ada/m.py", line 3', 'File "~/m.py", line 3'),
        (
            "/home/adam/x /mnt/home/ada/x /home/ada-old",
            "/home/adam/x /mnt/home/ada/x /home/ada-old",
        ),
    ):
        assert hide_home(text) == told, text


def test_names_that_are_not_utf_8_are_escaped():
    assert hide_home("run caf\udce9.sqlite").encode() == b"run caf\\udce9.sqlite"
