"""Texts of any characters, without tables of Unicode, which take Hypothesis a second to make."""

from hypothesis import strategies as st

LATIN, LAST = 0x24F, 0x10FFFF
SURROGATES = range(0xD800, 0xE000)


def texts(max_size=20, *, surrogates=False):
    """Return a strategy of texts, half of their characters Latin letters, signs and controls."""
    code = st.integers(0, LATIN) | st.integers(0, LAST)
    if not surrogates:
        code = code.filter(lambda number: number not in SURROGATES)
    return st.lists(code.map(chr), max_size=max_size).map("".join)
