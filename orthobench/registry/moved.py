"""Modules that were elsewhere before version 0.1, for plugins that still import them there."""

from __future__ import annotations

import re

OLD = {
    "contract": "exhibits hookspecs panel parameters problem samples solution solver sources",
    "tools": "compiled datasets environment files lanes memory threads",
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
"""Old modules by the package that has what was in them."""

NOW = {name: home.strip() for home, names in OLD.items() for name in names.split()}

_NAMES = re.compile(r"cannot import name '(\w+)' from 'orthobench'")


def hint(error: BaseException) -> str:
    """Return where what an import did not find is now; empty where that is not known."""
    if not isinstance(error, ImportError):
        return ""
    found = _NAMES.match(str(error))
    old = found[1] if found else (error.name or "").removeprefix("orthobench.")
    if old not in NOW:
        return ""
    return f"orthobench.{old} has moved: import from orthobench.{NOW[old]}"
