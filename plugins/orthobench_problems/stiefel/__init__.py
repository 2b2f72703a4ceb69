"""Problems on the Stiefel manifold, each with a known optimum or a certified reference."""

from orthobench_problems.stiefel.assignment import QuadraticAssignment
from orthobench_problems.stiefel.brockett import StiefelBrockett
from orthobench_problems.stiefel.diagonalization import JointDiagonalization
from orthobench_problems.stiefel.eigenvalue import NonlinearEigenvalue
from orthobench_problems.stiefel.files import (
    NpyBrockett,
    NpyJointDiagonalization,
    NpyProcrustes,
    NpyWeightRotation,
)
from orthobench_problems.stiefel.network import OrthogonalNetwork
from orthobench_problems.stiefel.procrustes import StiefelProcrustes, StiefelProcrustesBatch
from orthobench_problems.stiefel.rotation import WeightRotation

PROBLEMS = (
    StiefelBrockett,
    StiefelProcrustes,
    StiefelProcrustesBatch,
    QuadraticAssignment,
    JointDiagonalization,
    NonlinearEigenvalue,
    WeightRotation,
    OrthogonalNetwork,
    NpyBrockett,
    NpyProcrustes,
    NpyJointDiagonalization,
    NpyWeightRotation,
)
