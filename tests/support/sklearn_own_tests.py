"""scikit-learn's own tests of decompositions, run against `orthobench.estimators`.

    python tests/support/sklearn_own_tests.py

The tests are those of the installed package. Names are replaced before they are imported, by
subclasses that take scikit-learn's arguments and pass on what ours have. Only tests that make one
of them count. A failure is listed with its reason, and one without a reason gives exit code 1.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn.cross_decomposition
import sklearn.decomposition

from orthobench import estimators

FILES = {
    "sklearn.decomposition": ("test_pca.py", "test_truncated_svd.py", "test_sparse_pca.py"),
    "sklearn.cross_decomposition": ("test_pls.py",),
}
SOLVERS = {
    "auto": "auto", "full": "svd", "covariance_eigh": "gram-pca", "arpack": "scipy-eigsh",
    "randomized": "block-krylov",
}  # fmt: skip
REASONS = {
    r"_mle|test_pca_dim|mle_": "n_components='mle' is not offered",
    "test_pca_score3": "zero components are refused",
    "test_pca_svd_solver_auto": "reads a private attribute: our choice of a solver is another",
    "test_sparse_pca_solver_error": "all our solvers take sparse matrices",
    r"test_pca_validation|test_n_components_upper_bounds": "our message has other words",
    "test_n_components_none": "None is min(shape), also for Lanczos, which then refuses",
    r"test_sparse_pca.py::test_correct_shapes": "more components than rows are refused",
    r"test_sparse_pca.py::test_initialization": "a solver begins where its method says",
    "test_equivalence_components": "off by 2.5e-8, the root of the rounding of variances",
    "test_copy": "data are never written into",
}
"""Why tests may fail, by a regular expression of their names."""

UNKNOWN = "no reason is known"

made = Counter[str]()


class PCA(estimators.PCA):
    def __init__(
        self, n_components=None, *, copy=True, whiten=False, svd_solver="auto", tol=0.0,
        iterated_power="auto", n_oversamples=10, power_iteration_normalizer="auto",
        random_state=None,
    ):  # fmt: skip
        made["PCA"] += 1
        self.n_components, self.copy, self.whiten, self.tol = n_components, copy, whiten, tol
        self.svd_solver, self.iterated_power, self.n_oversamples = (
            svd_solver, iterated_power, n_oversamples,
        )  # fmt: skip
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    solver = property(lambda self: SOLVERS[self.svd_solver])
    tolerance = property(lambda self: self.tol)


class TruncatedSVD(estimators.TruncatedSVD):
    def __init__(
        self, n_components=2, *, algorithm="randomized", n_iter=5, n_oversamples=10,
        power_iteration_normalizer="auto", random_state=None, tol=0.0,
    ):  # fmt: skip
        made["TruncatedSVD"] += 1
        self.n_components, self.algorithm, self.n_iter = n_components, algorithm, n_iter
        self.n_oversamples, self.tol = n_oversamples, tol
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state

    solver = property(lambda self: SOLVERS[self.algorithm])
    tolerance = property(lambda self: self.tol)


class SparsePCA(estimators.SparsePCA):
    solver, tolerance = "auto", 0.0

    def __init__(
        self, n_components=None, *, alpha=1, ridge_alpha=0.01, max_iter=1000, tol=1e-8,
        method="lars", n_jobs=None, U_init=None, V_init=None, verbose=False, random_state=None,
    ):  # fmt: skip
        made["SparsePCA"] += 1
        self.n_components, self.alpha, self.ridge_alpha = n_components, alpha, ridge_alpha
        self.max_iter, self.tol, self.method, self.n_jobs = max_iter, tol, method, n_jobs
        self.U_init, self.V_init, self.verbose = U_init, V_init, verbose
        self.random_state = random_state

    cardinality = property(lambda self: 10 if self.alpha else 10**6)


class CCA(estimators.CCA):
    solver, ridge = "auto", 0.0

    def __init__(self, n_components=2, *, scale=True, max_iter=500, tol=1e-6, copy=True):
        made["CCA"] += 1
        self.n_components, self.scale, self.max_iter = n_components, scale, max_iter
        self.tol, self.copy = tol, copy


class Recorder:
    """Notes which tests make an estimator of ours, and how these end."""

    def __init__(self):
        self.ended, self.at = {}, 0

    def pytest_runtest_setup(self, item):
        del item
        self.at = made.total()

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("/")[2]
        ours = made.total() > self.at or any(cls in name for cls in ("[CCA", "[SparsePCA"))
        if ours and (report.when == "call" or report.outcome != "passed"):
            crash = getattr(report.longrepr, "reprcrash", None)
            told = crash.message.splitlines()[0] if crash and crash.message else ""
            self.ended[name] = (report.outcome, told)


def main(arguments: list[str]) -> int:
    for module, names in (
        (sklearn.decomposition, (PCA, TruncatedSVD, SparsePCA)),
        (sklearn.cross_decomposition, (CCA,)),
    ):
        for cls in names:
            setattr(module, cls.__name__, cls)
    paths = [
        str(Path(importlib.import_module(name).__file__).parent / "tests" / file)
        for name, files in FILES.items()
        for file in files
    ]
    recorder = Recorder()
    options = ["-q", "-p", "no:cacheprovider", "--no-header", "--tb=short", "-c", "/dev/null"]
    pytest.main([*options, *arguments, *paths], plugins=[recorder])
    counts = Counter(outcome for outcome, _ in recorder.ended.values())
    print(f"\n{len(recorder.ended)} tests make an estimator of ours: {dict(counts)}")  # noqa: T201
    failed = {n: told for n, (outcome, told) in recorder.ended.items() if outcome == "failed"}
    reasons = {n: _reason(n) for n in failed}
    for why, number in Counter(reasons.values()).most_common():
        print(f"{number:4} {why}")  # noqa: T201
        listed = (f"       {n}: {failed[n][:90]}\n" for n in failed if reasons[n] == why)
        print("".join(listed))  # noqa: T201
    return int(UNKNOWN in reasons.values())


def _reason(name: str) -> str:
    return next((why for part, why in REASONS.items() if re.search(part, name)), UNKNOWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
