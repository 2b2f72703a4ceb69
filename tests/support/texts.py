"""Texts of any characters, without tables of Unicode, which take Hypothesis a second to make."""

from hypothesis import strategies as st

LATIN, LAST = 0x24F, 0x10FFFF
SURROGATES = range(0xD800, 0xE000)
NASTY = st.sampled_from(" \t\n\r\0\x1b\x7f\x85\u2028\u202e\ufeff\"'\\<&")


def texts(max_size=20, *, surrogates=False):
    """Return a strategy of texts: spaces, controls and signs, Latin letters, and any characters."""
    code = st.integers(0, LATIN) | st.integers(0, LAST)
    if not surrogates:
        code = code.filter(lambda number: number not in SURROGATES)
    return st.lists(NASTY | code.map(chr), max_size=max_size).map("".join)
