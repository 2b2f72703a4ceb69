"""The new names of modules that were renamed after version 0.1.0, for plugins that import them."""

from __future__ import annotations

import re

OLD = {
    "contract": "exhibits hookspecs panel parameters problem samples solution solver",
    "contract.sources": "sources",
    "tools": "compiled datasets environment files memory threads",
    "tools.simd": "lanes",
    "contract ": "arrays flops geometry",
    "families.orthogonal_group": "families.planes",
    "families.orthogonal_tensor": "families.gmm families.mixtures families.whitening",
    "families.second_moments": "families.moments",
    "families.sparse_pca": "families.loadings",
    "families.symmetric_tucker": "families.full_tensors families.monomials"
    " families.sample_moments families.tucker_judges families.tucker_oracles",
    "harness": "cell code executors identity stopping suite trace",
    "registry": "admission locate preflight scaffold suite_file",
    "reproduce": "claims",
    "results": "explain export merging record schema store tuning",
}
"""Old modules, by the package that now has what was in them."""

NOW = {name: home.strip() for home, names in OLD.items() for name in names.split()}
"""The package that now has what was in an old module."""

_NAMES = re.compile(r"cannot import name '(\w+)' from 'orthobench'")


def hint(error: BaseException) -> str:
    """Return a hint where to import from instead; empty where none is known."""
    if not isinstance(error, ImportError):
        return ""
    found = _NAMES.match(str(error))
    old = found[1] if found else (error.name or "").removeprefix("orthobench.")
    if old not in NOW:
        return ""
    return f"orthobench.{old} has moved: import from orthobench.{NOW[old]}"
