"""How Sphinx makes the documentation: ``sphinx-build -j auto -W -b html docs docs/_build``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import orthobench

project = "orthobench"
author = "The orthobench developers"
copyright = author  # noqa: A001 - Sphinx calls it so
release = version = orthobench.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "mathml",
    "plain",
    "published",
]
exclude_patterns = ["_build", "_ext", "ci"]
root_doc = "contents"

myst_heading_anchors = 3
myst_fence_as_directive = ["math"]  # as GitHub writes formulas
default_role = "literal"
highlight_language = "text"
smartquotes = False  # X' is a transpose

autodoc_typehints = "none"  # the docstrings say them, with shapes and units
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True  # else a shape (n, k) would refer to every attribute n
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"orthobench {release}"
html_static_path = ["_static"]
html_extra_path = ["llms.txt"]
html_css_files = ["formulas.css", "wide-tables.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False

linkcheck_anchors = False
