"""Problems over the orthogonal group."""

from orthobench_problems.orthogonal_group.brockett import Brockett
from orthobench_problems.orthogonal_group.ica import ICA
from orthobench_problems.orthogonal_group.procrustes import Procrustes

PROBLEMS = (Procrustes, Brockett, ICA)
