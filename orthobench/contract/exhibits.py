"""Exhibits: images and curves of a solution, such as a detection map or an ROC curve.

`Instance.exhibits` makes them from the last solution of a run, off the clock. The store keeps them
for every sound run, at 4 bytes an entry before compression.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import StoreError

LARGEST = 2**22
"""Maximum number of entries of an image, and of points of a curve."""

MOST = 64
"""Maximum number of exhibits of a solution, with at most `LARGEST` entries together."""

_MOST_BYTES = 2 * 4 * LARGEST + 2**12
"""Maximum size of a decompressed exhibit with its header, in bytes."""

Values: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Image:
    """An image: a number for each pixel.

    Parameters
    ----------
    values : array_like, shape (height, width)
        Real numbers, NaN for blank pixels; the first row is on top. Copied to float32.
    signed : bool
        Whether zero is drawn white, with one colour below and another above.
    reference : bool
        Whether it is the same for all solvers, as the true map is.

    Raises
    ------
    ValueError
        On another shape or kind, infinite values, none, or more than `LARGEST`.
    """

    values: Values
    signed: bool = False
    reference: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _float32(self.values, 2, "the values of an image"))

    @property
    def size(self) -> int:
        """The number of its entries."""
        return self.values.size


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve through points in order; curves with equal labels share their axes.

    Parameters
    ----------
    x, y : array_like, shape (m,)
        Real numbers; y is NaN at a gap. Copied to float32.
    x_label, y_label : str
        With units.
    reference : bool
        Whether it is the same for all solvers, as the diagonal of an ROC is.

    Raises
    ------
    ValueError
        On another shape or kind, infinite values, none, or more than `LARGEST`.
    """

    x: Values
    y: Values
    x_label: str
    y_label: str
    reference: bool = False

    def __post_init__(self) -> None:
        x, y = _float32(self.x, 1, "x of a curve"), _float32(self.y, 1, "y of a curve")
        if x.shape != y.shape:
            raise ValueError(f"a curve has {len(x)} values of x and {len(y)} of y")
        if np.isnan(x).any():
            raise ValueError("x of a curve is NaN; make y NaN at a gap")
        labels: tuple[object, ...] = (self.x_label, self.y_label)
        if not all(isinstance(label, str) for label in labels):
            raise ValueError(f"the labels of a curve must be texts, not {labels}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)

    @property
    def size(self) -> int:
        """The number of its points."""
        return self.x.size


Exhibit: TypeAlias = Image | Curve


def checked_exhibits(returned: object) -> dict[str, Exhibit]:
    """Return the value of `Instance.exhibits` as a dictionary.

    Raises
    ------
    TypeError
        If it is not a mapping of names to exhibits.
    ValueError
        As `check_all`.
    """
    if not isinstance(returned, Mapping):
        raise TypeError(f"exhibits must be a mapping of names to Image or Curve, not {returned!r}")
    for name, exhibit in returned.items():
        if not isinstance(name, str) or not name or not name.isprintable():
            raise TypeError(f"the name of an exhibit must be a line of text, not {name!r}")
        if not isinstance(exhibit, Exhibit):
            kind = type(exhibit).__name__
            raise TypeError(f"exhibit {name!r} is a {kind}, neither an Image nor a Curve")
    check_all(returned.values())
    return dict(returned)


def check_all(exhibits: Iterable[Exhibit]) -> None:
    """Raise a `ValueError` for more than `MOST` exhibits, or more than `LARGEST` entries."""
    count = size = 0
    for exhibit in exhibits:
        count, size = count + 1, size + exhibit.size
        if count > MOST or size > LARGEST:
            raise ValueError(
                f"a solution has at most {MOST} exhibits, and these at most {LARGEST} pixels and "
                "points together; exhibit fewer, or smaller ones"
            )


def packed(exhibit: Exhibit) -> tuple[str, str, bytes]:
    """Return an exhibit as the store keeps it: kind, labels and flags in JSON, and data.

    The data are an image, or x and y of a curve as rows, in a compressed .npy of float32.
    """
    arrays = [value for value in vars(exhibit).values() if isinstance(value, np.ndarray)]
    meta = {name: v for name, v in vars(exhibit).items() if not isinstance(v, np.ndarray)}
    kind = "image" if isinstance(exhibit, Image) else "curve"
    array = arrays[0] if kind == "image" else np.stack(arrays)
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array.astype("<f4", order="C"), allow_pickle=False)
    return kind, json.dumps(meta, sort_keys=True), zlib.compress(buffer.getvalue())


def unpacked(kind: str, meta: str, data: bytes) -> Exhibit:
    """Return the exhibit of `packed`, bit for bit; the input is not trusted.

    Raises
    ------
    StoreError
        On other bytes.
    """
    try:
        labels, array = json.loads(meta), _array(data)
        reference = bool(labels["reference"])
        if kind == "image":
            return Image(array, bool(labels["signed"]), reference)
        if kind == "curve":
            x, y = array
            return Curve(x, y, labels["x_label"], labels["y_label"], reference)
    except Exception as error:  # of any parser
        raise StoreError(f"is no exhibit: {error!r:.200}") from error
    raise StoreError(f"is of an unknown kind: {kind!r}")


def _array(data: bytes) -> NDArray[Any]:
    stream = zlib.decompressobj()
    raw = stream.decompress(data, _MOST_BYTES)
    if not stream.eof:
        raise ValueError("the data are truncated, or larger than any exhibit")
    array: NDArray[Any] = np.lib.format.read_array(BytesIO(raw), allow_pickle=False)
    return array


def _float32(values: object, dimensions: int, what: str) -> Values:
    """Return a read-only copy in single precision."""
    given = np.asarray(values)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be real numbers, not of dtype {given.dtype}")
    if given.ndim != dimensions or not 0 < given.size <= LARGEST:
        axes = "one axis" if dimensions == 1 else f"{dimensions} axes"
        raise ValueError(
            f"{what} must have {axes} and between 1 and {LARGEST} entries, not shape {given.shape}"
        )
    with np.errstate(over="ignore"):
        copied: Values = given.astype(np.float32)
    if np.isinf(copied).any():
        at = tuple(int(i) for i in np.argwhere(np.isinf(copied))[0])
        raise ValueError(f"{what} must fit single precision; at {at} is {given[at]!r}")
    copied.flags.writeable = False
    return copied
