"""Training of small networks: SGD, Adam and spectral methods on the same batches."""

from orthobench.contract import discovered
from orthobench_training.network import Network
from orthobench_training.oracle import Training, TrainingOracle, training
from orthobench_training.solver import TrainingSolver, TrainingState

__all__ = ["Network", "Training", "TrainingOracle", "TrainingSolver", "TrainingState", "training"]

orthobench_solvers, orthobench_problems, orthobench_suites = discovered(__name__)
