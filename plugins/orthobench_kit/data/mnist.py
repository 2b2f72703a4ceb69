"""The MNIST database of handwritten digits, in IDX format."""

from __future__ import annotations

import gzip
import struct

import numpy as np
from numpy.typing import NDArray

from orthobench.tools.datasets import DataFile, fetch

_SOURCE = "the MNIST database of handwritten digits (LeCun, Cortes and Burges; CC BY-SA 3.0)"
_MIRRORS = (
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
)


def _mnist(name: str, sha256: str, *repackaged: str) -> DataFile:
    return DataFile(name, sha256, tuple(url + name for url in _MIRRORS), _SOURCE, repackaged)


TRAIN_IMAGES = _mnist(
    "train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
)
TEST_IMAGES = _mnist(
    "t10k-images-idx3-ubyte.gz",
    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "167310007f03058885c7e95e6c0b19c20de5c7fd3031f4cbdadc9014a523d80b",
)

TEST_LABELS = _mnist(
    "t10k-labels-idx1-ubyte.gz",
    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
    "fc607395669ec21321ea83e4b82c0544b7e8e63ff5b34337c06bc0a17cc0da3c",
)


def read(file: DataFile) -> NDArray[np.uint8]:
    """Return the bytes of a file, in the shape of its header.

    Raises
    ------
    DataError
        If the file is missing and cannot be downloaded, or is not the published one.
    """
    content = gzip.decompress(fetch(file).read_bytes())
    axes = content[3]
    shape = struct.unpack_from(f">{axes}I", content, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)
