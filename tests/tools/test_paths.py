"""Home and folders in texts that others read."""

import pytest

from orthobench.tools.files import bare, hide_home


@pytest.fixture(autouse=True)
def home(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.setenv("USERPROFILE", "/home/ada")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("/home/ada", "~"),
        ("orthobench run /home/ada/x.toml", "orthobench run ~/x.toml"),
        ("--store=/home/ada/r.sqlite", "--store=~/r.sqlite"),
        ('File "/home/ada/m.py", line 3', 'File "~/m.py", line 3'),
        (
            "/home/adam/x /mnt/home/ada/x /home/ada-old",
            "/home/adam/x /mnt/home/ada/x /home/ada-old",
        ),
    ],
)
def test_home_is_a_tilde(text, told):
    assert hide_home(text) == told


def test_a_home_that_is_the_root_is_none(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    monkeypatch.setenv("USERPROFILE", "/")
    assert hide_home("a/b /c") == "a/b /c"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("path=/data/secret/X.npy k=4", "path=X.npy k=4"),
        ("path=~/secret/X.npy", "path=X.npy"),
        ("'/srv/a b/X.npy'", "'a b/X.npy'"),  # the folder of a parameter is known, and goes too
        ('File "/home/ada/m.py", line 3', 'File "m.py", line 3'),
        (r"C:\Users\ada\X.npy", "X.npy"),
        ("1/t and 2/sqrt(t), flops/step", "1/t and 2/sqrt(t), flops/step"),
        ("https://example.org/a/b.html", "https://example.org/a/b.html"),
        ("data/X.npy", "data/X.npy"),
    ],
)
def test_folders_are_left_out(text, told):
    assert bare(text) == told
