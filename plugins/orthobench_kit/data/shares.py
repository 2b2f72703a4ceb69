"""Training, validation and test parts of your own rows."""

from __future__ import annotations

from orthobench.contract import DataError, UsageError


def check_shares(validation: float, test: float) -> None:
    """Raise `UsageError` if shares leave no rows to train on."""
    if validation + test >= 1:
        share = f"{validation + test:g}"
        raise UsageError(
            f"validation and test take {share} of the rows: nothing is left to train on"
        )


def part_sizes(rows: int, validation: float, test: float, path: str) -> tuple[int, int, int]:
    """Return the number of training, validation and test rows, by shares.

    Raises
    ------
    DataError
        If a part of the file at `path` would be empty.
    """
    tested, validated = round(rows * test), round(rows * validation)
    train = rows - tested - validated
    if train < 1 or (validation and not validated) or (test and not tested):
        raise DataError(f"{path} has {rows} rows: too few for the parts asked for")
    return train, validated, tested
