"""Sparse PCA: a few components with few non-zero loadings that explain much variance.

Maximize tr(Z'AU) - gamma |Z|_1 over U'U = I and unit columns of Z (Journée et al. 2010; Shalit and
Chechik 2014, equation 5), or sum_ij [|AU|_ij - gamma]²_+ over U'U = I (equation 6). For more than
one component these are different problems.
"""

from orthobench.contract import discovered
from orthobench_sparse_pca.maker import sparse_pca
from orthobench_sparse_pca.oracle import SparsePCA, SparsePCAOracle, SparseSolution

__all__ = ["SparsePCA", "SparsePCAOracle", "SparseSolution", "sparse_pca"]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
