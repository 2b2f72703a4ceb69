"""Problems of sparse PCA."""

from orthobench_problems.sparse_pca.classics import ClassicSparse
from orthobench_problems.sparse_pca.files import NpySparse
from orthobench_problems.sparse_pca.images import DigitsSparse
from orthobench_problems.sparse_pca.planted import PlantedSparse
from orthobench_problems.sparse_pca.prostate import Prostate

PROBLEMS = (Prostate, PlantedSparse, DigitsSparse, NpySparse, ClassicSparse)
