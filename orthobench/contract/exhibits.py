"""Exhibits: what a solution looks like, for people who would rather look than read.

A problem may show its solutions (`Instance.exhibits`): bands of an image, a
detection map, an ROC curve, the returns of a portfolio. They are made once a run, off the clock,
and kept for every run that did not fail: 4 bytes an entry before compression, times solvers,
trials and seeds. Few and small is the way to keep a store small.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orthobench.errors import StoreError

LARGEST = 2**22
"""Most entries of an image, most points of a curve."""

_MOST_BYTES = 2 * 4 * LARGEST + 2**12
"""Of a curve that large, with its header: nothing that was packed here unpacks to more."""

Values: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Image:
    """A picture, one number a pixel.

    Parameters
    ----------
    values : array_like, shape (height, width)
        Real, NaN where there is nothing; the first row is on top. Kept in single precision.
    signed : bool
        Whether zero is special: shown white, with one colour below it and another above.
    reference : bool
        Whether it is the same for every solver on the same instance: the true map.

    Raises
    ------
    ValueError
        On values of another shape or kind, infinite ones, none at all, or more than `LARGEST`.
    """

    values: Values
    signed: bool = False
    reference: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _kept(self.values, 2, "the values of an image"))


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve through points, in their order.

    Curves with the same labels share an axis.

    Parameters
    ----------
    x, y : array_like, shape (m,)
        Real, y NaN where the curve has a gap. Kept in single precision.
    x_label, y_label : str
        What the axes say.
    reference : bool
        Whether it is the same for every solver on the same instance: the diagonal of an ROC.

    Raises
    ------
    ValueError
        On points of another shape or kind, infinite ones, none at all, or more than `LARGEST`.
    """

    x: Values
    y: Values
    x_label: str
    y_label: str
    reference: bool = False

    def __post_init__(self) -> None:
        x, y = _kept(self.x, 1, "x of a curve"), _kept(self.y, 1, "y of a curve")
        if x.shape != y.shape:
            raise ValueError(f"a curve has {len(x)} values of x and {len(y)} of y")
        if np.isnan(x).any():
            raise ValueError("x of a curve is NaN; a gap is where y is")
        labels: tuple[object, ...] = (self.x_label, self.y_label)
        if not all(isinstance(label, str) for label in labels):
            raise ValueError(f"the labels of a curve must be texts, not {labels}")
        object.__setattr__(self, "x", x)
        object.__setattr__(self, "y", y)


Exhibit: TypeAlias = Image | Curve


def checked(found: object) -> dict[str, Exhibit]:
    """Return what a problem exhibits, where it is exhibits by name.

    Raises
    ------
    TypeError
        Where it is anything else.
    """
    if not isinstance(found, Mapping):
        raise TypeError(f"exhibits must be a mapping of names to Image or Curve, not {found!r}")
    for name, exhibit in found.items():
        if not isinstance(name, str) or not name or not name.isprintable():
            raise TypeError(f"the name of an exhibit must be a line of text, not {name!r}")
        if not isinstance(exhibit, Exhibit):
            kind = type(exhibit).__name__
            raise TypeError(f"exhibit {name!r} is a {kind}, neither an Image nor a Curve")
    return dict(found)


def packed(exhibit: Exhibit) -> tuple[str, str, bytes]:
    """Return an exhibit as the store keeps it: kind, JSON of all but the data, and the data.

    The data are an array in the .npy format, of little-endian 32-bit floats, zlib-compressed:
    the values of an image, or x and y of a curve as two rows.
    """
    meta: dict[str, Any] = {"reference": exhibit.reference}
    if isinstance(exhibit, Image):
        kind, array = "image", exhibit.values
        meta |= {"signed": exhibit.signed}
    else:
        kind, array = "curve", np.stack([exhibit.x, exhibit.y])
        meta |= {"x_label": exhibit.x_label, "y_label": exhibit.y_label}
    buffer = BytesIO()
    np.lib.format.write_array(buffer, array.astype("<f4", order="C"), allow_pickle=False)
    return kind, json.dumps(meta), zlib.compress(buffer.getvalue())


def unpacked(kind: str, meta: str, data: bytes) -> Exhibit:
    """Return the exhibit that `packed` made these of, bit for bit.

    Nothing in them is trusted: no object is unpickled, and no more is unpacked than an exhibit
    can be.

    Raises
    ------
    StoreError
        Where they are anything else.
    """
    try:
        labels, array = json.loads(meta), _array(data)
        reference = bool(labels["reference"])
        if kind == "image":
            return Image(array, bool(labels["signed"]), reference)
        if kind == "curve":
            x, y = array
            return Curve(x, y, labels["x_label"], labels["y_label"], reference)
    except Exception as error:  # foreign bytes fail in as many ways as there are parsers
        raise StoreError(f"is no exhibit: {error!r}") from error
    raise StoreError(f"is of a kind that this orthobench does not know: {kind!r}")


def _array(data: bytes) -> NDArray[Any]:
    stream = zlib.decompressobj()
    raw = stream.decompress(data, _MOST_BYTES)
    if not stream.eof:
        raise ValueError("the data are cut off, or larger than any exhibit")
    array: NDArray[Any] = np.lib.format.read_array(BytesIO(raw), allow_pickle=False)
    return array


def _kept(values: object, dimensions: int, what: str) -> Values:
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
        kept: Values = given.astype(np.float32)
    if np.isinf(kept).any():
        at = tuple(int(i) for i in np.argwhere(np.isinf(kept))[0])
        raise ValueError(f"{what} must fit single precision; at {at} is {given[at]!r}")
    kept.flags.writeable = False
    return kept
