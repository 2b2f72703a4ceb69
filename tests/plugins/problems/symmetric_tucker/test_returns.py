"""Daily returns: the tables of Kenneth French's data library, and periods of them."""

from datetime import date

import numpy as np
import pytest
from orthobench_tucker.problems.returns import read_returns

from orthobench.errors import DataError

PREFACE = """This file was created by hand.
It contains value- and equal-weighted returns for 3 industry portfolios.

Missing data are indicated by -99.99 or -999.

"""
TABLE = """,Food ,Beer ,Smoke
20130102,    1.50,  -0.25,    0.00
20130103,   -2.00,   0.75,    3.10
20130107,    0.50,   0.10,  -99.99
"""
EQUAL = """

  Average Equal Weighted Returns -- Daily
,Food ,Beer ,Smoke
20130102,    9.00,   9.00,    9.00
20130103,    9.00,   9.00,    9.00

Copyright 2018 Kenneth R. French
"""
VALUES = np.array([[1.5, -0.25, 0], [-2, 0.75, 3.1], [0.5, 0.1, np.nan]])


@pytest.fixture
def file(tmp_path):
    def written(content):
        path = tmp_path / "own.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.mark.parametrize(
    "content",
    [
        TABLE,
        PREFACE + "  Average Value Weighted Returns -- Daily\n" + TABLE + EQUAL,
        (PREFACE + TABLE + EQUAL).replace("\n", "\r\n"),
        b"\xef\xbb\xbf" + TABLE.encode(),
        TABLE.replace(",Food ,Beer ,Smoke", '"yyyymmdd","Food","Beer","Smoke"'),
        TABLE.replace("20130102", '"20130102"').replace("-99.99", "-999"),
        TABLE.replace("201301", "2013-01-").replace("-99.99", " -999.00"),
        TABLE + " , ,\n" + TABLE,
    ],
)
def test_the_first_table_is_read_whatever_is_around_it(file, content):
    found = read_returns(file(content))
    assert found.names == ("Food", "Beer", "Smoke")
    assert np.array_equal(found.days, np.array(["2013-01-02", "2013-01-03", "2013-01-07"], "M8[D]"))
    assert np.array_equal(found.values, VALUES, equal_nan=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no line that begins with a day"),
        (TABLE.replace("0102", "").replace("0103", "").replace("0107", ""), "is it daily"),
        (
            TABLE.partition("\n")[2],
            "line 1 is the first day: the line before it",
        ),
        (TABLE.replace("0.75,", ""), "line 3 has 3 fields, the line with the names 4"),
        (TABLE.replace("20130103", "20131303"), "line 3 begins with '20131303', not with a day"),
        (TABLE.replace("20130103", "20130102"), "line 3: day 20130102 is not after"),
        (TABLE.replace("0.75", "NA"), r"line 3: 'NA' is not a return in percent \('Beer'\)"),
        (TABLE.replace("0.75", "inf"), "line 3: 'inf' is not a return"),
        (TABLE.replace("0.75", "-100.01"), "line 3: '-100.01' is not a return"),
        (PREFACE + TABLE.replace("0.75", "x"), "line 8: 'x' is not a return"),
        (b"\xff\xfe\x00,Food\n", "cannot be read as a CSV file"),
    ],
)
def test_malformed_tables_are_refused_by_line(file, content, message):
    with pytest.raises(DataError, match=message) as raised:
        read_returns(file(content))
    assert "own.csv" in str(raised.value)


def test_a_period_includes_its_ends(file):
    found = read_returns(file(TABLE))
    assert np.array_equal(found.between(date(2013, 1, 2), date(2013, 1, 3)), VALUES[:2])
    assert np.array_equal(found.between(date(2013, 1, 1), date(2013, 1, 6)), VALUES[:2])


@pytest.mark.parametrize(
    ("first", "last", "message"),
    [
        ("2012-12-01", "2013-01-03", "no returns from 2012-12-01 to 2013-01-03, only from 2013-01"),
        ("2013-01-02", "2013-01-18", "only from 2013-01-02 to 2013-01-07"),
        ("2013-01-04", "2013-01-07", "there are 1 days of returns"),
        ("2013-01-03", "2013-01-07", "the return of 'Smoke' on 2013-01-07 is missing"),
    ],
)
def test_a_period_that_cannot_be_had_is_refused(file, first, last, message):
    found = read_returns(file(TABLE))
    with pytest.raises(DataError, match=message):
        found.between(date.fromisoformat(first), date.fromisoformat(last))
