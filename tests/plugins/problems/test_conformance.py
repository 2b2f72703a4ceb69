import pytest
from orthobench_problems import orthobench_problems

SMALL = {
    "gmm-moments": {"d": 8, "components": 3, "samples": 400},
    "lda-moments": {"topics": 3, "vocabulary": 20, "documents": 300},
    "planted-sparse": {"d": 30, "samples": 20, "m": 2, "nonzeros": 5, "test": 20},
    "nig-factor": {"n": 8, "rank": 2, "true_rank": 2, "samples": 80, "test": 80, "validation": 50},
    "gaussian-factor": {
        "n": 6, "rank": 2, "true_rank": 2, "samples": 80, "test": 80, "validation": 50,
    },
    "random-symmetric": {"n": 6, "rank": 2, "true_rank": 2},
}  # fmt: skip
NEED_FILES = {
    "mnist", "prostate", "hsi-anomaly", "portfolio", "npy-pca", "npy-sparse", "npy-tensor",
    "npy-moment",
}  # fmt: skip

PROBLEMS = [
    cls(**SMALL.get(cls.name, {})) for cls in orthobench_problems() if cls.name not in NEED_FILES
]


@pytest.mark.conformance(*PROBLEMS)
def test_conformance(conformance):
    conformance()
