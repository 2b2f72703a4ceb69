"""Data frames as Parquet files."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO

from orthobench.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def write_frame(make: Callable[[], pd.DataFrame], file: BinaryIO) -> None:
    """Write a data frame; a column of values of several types as text, since Parquet has one.

    Parameters
    ----------
    make : callable
        Makes the frame, with pandas.
    file : file

    Raises
    ------
    UsageError
        Where pandas or pyarrow is not installed.
    """
    try:
        frame = make()
        mixed = [name for name in frame if _is_mixed(frame[name])]
        texts = {name: frame[name].map(str, na_action="ignore").astype("string") for name in mixed}
        frame.assign(**texts).to_parquet(file, index=False)
    except ImportError as error:
        message = f"Parquet needs more packages: pip install 'orthobench[export]' ({error})"
        raise UsageError(message) from None


def _is_mixed(column: pd.Series) -> bool:
    return column.dtype == object and len(set(map(type, column.dropna()))) > 1
