"""Prostate cancer: the gene expression data of Singh et al. (2002)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from orthobench_kit.data import data_files

from orthobench.contract import Array, Instance, parameter
from orthobench.tools.datasets import DataFile
from orthobench_sparse_pca import SparsePCA, SparsePCAOracle
from orthobench_sparse_pca.problems.expression import read_csv, read_rdata
from orthobench_sparse_pca.problems.parts import (
    CARDINALITY_HELP,
    EACH_HELP,
    PASSES_HELP,
    SCALING_HELP,
    SCALINGS,
    check_components,
    split_parts,
)

_REPOSITORY = "https://raw.githubusercontent.com/ramhiser/datamicroarray"

SINGH = DataFile(
    "singh.RData",
    "5197cdae41c6e25b9a59cfda23fd9434c25b7406ed1942c5ca074e140e5c2cff",
    (
        f"{_REPOSITORY}/052005822fa6ed5e9342e174fa6032388d5400c1/data/singh.RData",
        f"{_REPOSITORY}/master/data/singh.RData",
    ),
    "Singh et al. 2002, Cancer Cell 1, as the R package datamicroarray has it (ramhiser; MIT)",
)

GENES, SAMPLES = 12600, 102


@dataclass(frozen=True)
class Prostate(SparsePCA):
    """Expression of 12,600 genes in 52 prostate tumours and 50 normal samples (Singh et al. 2002).

    The data of Figure 1 of Shalit and Chechik (2014, section 4.3), which judges on all 102
    samples. Standardized genes give the density that the figure shows. ``test=20`` gives the
    setting of their Figure 2, though not its data, which are of brains: samples held out at
    random, and the mean and the scale of each gene from the training part.

    Genes that do not vary in the training part are dropped and the others renumbered; every gene
    of the published data varies. Reading them takes the package rdata (the extra ``data``).

    A table of your own, of any size, is read from a CSV file (`path`): genes in lines, samples in
    columns, the names of the samples in the first line, those of the genes in the first column.
    """

    name = "prostate"
    source = "gene expression (Singh et al. 2002)"

    m: int = parameter(5, help="components sought", low=1)
    scaling: str = parameter("standardized", help=SCALING_HELP, choices=SCALINGS)
    test: int = parameter(0, help="samples held out for the judge; 0: none", low=0)
    passes: int = parameter(1, help=PASSES_HELP, low=1)
    cardinality: int | None = parameter(None, help=CARDINALITY_HELP, low=1)
    each: bool = parameter(True, help=EACH_HELP)
    path: str | None = parameter(
        None, help="your own download instead: a CSV file, genes in lines, samples in columns"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.samples is not None:
            check_components(self.m, GENES, self.samples)

    @property
    def samples(self) -> int | None:
        """The number of training samples; None where a file of your own is read."""
        return SAMPLES - self.test if self.path is None else None

    def build(self, rng: np.random.Generator) -> Instance[SparsePCAOracle]:
        """Return the instance; `rng` draws the split, and the order for streaming methods.

        Raises
        ------
        DataError
            Where the file is missing, cannot be downloaded, or holds no table of finite numbers.
        UsageError
            On more components than genes or training samples; where the package rdata is missing.
        """
        X = self._read()
        check_components(self.m, X.shape[1], len(X) - self.test)
        parts = split_parts(X, self.test, self.scaling, rng)
        return parts.instance(self.m, self.passes, rng, self.cardinality, self.each)

    def checksum(self) -> str:
        """Return the SHA-256 of the file; `build` verifies that of the published one."""
        return data_files.checksum(self.path, SINGH)

    def _read(self) -> Array:
        """Return the samples, shape (samples, genes)."""
        file, checksum = data_files.located(self.path, SINGH)
        return (_published if self.path is None else _table)(file, checksum)


@lru_cache(maxsize=1)
def _published(path: Path, checksum: str) -> Array:
    del checksum
    return _frozen(read_rdata(path, "singh"))


@lru_cache(maxsize=2)
def _table(path: Path, checksum: str) -> Array:
    del checksum
    return _frozen(read_csv(path))


def _frozen(X: Array) -> Array:
    """Make an array read-only, since callers share it through a cache."""
    X.flags.writeable = False
    return X
