"""Addresses of pages, which depend on nothing but names, so that links stay."""

from __future__ import annotations

import hashlib
import re

LONGEST = 60
"""The most characters of a name in an address."""


def page(kind: str, name: str) -> str:
    """Return the file name of a page: ``family-stochastic-pca.html``."""
    return f"{kind}-{slug(name)}.html"


def slug(name: str) -> str:
    """Return a name in letters, digits and dashes; with a digest where others could look alike."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:LONGEST]
    if name.lower() in (plain, plain.replace("-", " ")):
        return plain
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"{plain}-{digest}" if plain else digest
