"""Small files in the places of the published ones, so that all claims run without a download."""

import gzip
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import scipy.io


def images(path, count=300):
    """Write images of 28 x 28 pixels that lie near a few directions, as MNIST's do."""
    rng = np.random.default_rng(1)
    X = np.abs(rng.standard_normal((count, 12)) * 0.8 ** np.arange(12) @ rng.random((12, 784)))
    pixels = np.uint8(np.clip(60 * X, 0, 255))
    header = np.array([2051, count, 28, 28], dtype=">i4").tobytes()
    path.write_bytes(gzip.compress(header + pixels.tobytes()))


def genes(path):
    """Write the expression of 200 genes in 102 samples."""
    rng = np.random.default_rng(2)
    shared = rng.standard_normal((102, 8)) @ (
        rng.standard_normal((8, 200)) * (rng.random(200) < 0.2)
    )
    import rdata

    rdata.write_rda(path, {"singh": {"x": shared + rng.standard_normal((102, 200))}})


def scene(path):
    """Write a scene of 20 x 20 pixels in 8 bands, with 12 that differ."""
    rng = np.random.default_rng(3)
    data = rng.standard_normal((20, 20, 8)) * [50, 20, 10, 9, 8, 7, 6, 5] + 1000
    marks = np.zeros((20, 20), dtype=np.uint8)
    marks[3:5, 4:10] = 1
    data[marks > 0] += [0, 0, 0, 0, 0, 0, 12, 12]
    scipy.io.savemat(path, {"data": data, "map": marks})


def returns(path):
    """Write the returns of 30 industries on one day in eight from 1960 to 2017."""
    rng = np.random.default_rng(4)
    days = [date(1960, 1, 1) + timedelta(days=8 * i) for i in range(2647)]
    table = rng.standard_normal((len(days), 1)) + 0.5 * rng.standard_normal((len(days), 30))
    lines = ["," + ",".join(f"I{i}" for i in range(30))]
    lines += [
        f"{day:%Y%m%d}," + ",".join(f"{value:.2f}" for value in row)
        for day, row in zip(days, table, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")


WRITERS = {
    "t10k-images-idx3-ubyte.gz": images,
    "singh.RData": genes,
    "abu-airport-4.mat": scene,
    "30_Industry_Portfolios_Daily.CSV": returns,
}


def write(folder):
    """Write all of them into a folder; return it."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, writer in WRITERS.items():
        writer(folder / name)
    return folder


def served(patch, folder):
    """Let the data folder be one of made-up files, whose checksums are not those published."""
    from orthobench.tools import datasets

    write(folder)
    patch.setenv(datasets.VARIABLE, str(folder))
    patch.setattr(datasets, "find", lambda file: p if (p := folder / file.name).exists() else None)
