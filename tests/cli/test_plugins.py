"""`orthobench plugin new` as users call it."""

import pytest
from click.testing import CliRunner

from orthobench.cli.main import main
from orthobench.cli.plugins import OUTCOMES, _count


@pytest.fixture
def call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def called(*words, code=0):
        result = CliRunner().invoke(main, ["plugin", "new", *words])
        assert result.exit_code == code, result.output + str(result.exception)
        return result

    return called


def test_it_says_what_to_type_next(call, tmp_path):
    said = call("orthobench-toy", "--folder", "my plugins/toy").stdout
    assert (tmp_path / "my plugins/toy/src/orthobench_toy/solver.py").is_file()
    assert [line.strip() for line in said.splitlines() if line.startswith("    ")] == [
        "cd 'my plugins/toy'",
        "python -m pip install -e '.[test]'",
        "pytest",
        "orthobench plugin check toy",
        "orthobench show toy",
        "orthobench run toy-comparison",
    ]


def test_a_wrong_name_writes_nothing(call, tmp_path):
    assert "cannot be the name" in call("2toys", code=2).stderr
    assert not list(tmp_path.iterdir())


def test_a_second_call_changes_nothing(call, tmp_path):
    call("orthobench-toy")
    file = tmp_path / "orthobench-toy" / "README.md"
    file.write_text("mine")
    assert "orthobench-toy exists already" in call("orthobench-toy", code=2).stderr
    assert file.read_text() == "mine"


def test_checks_are_counted_by_their_outcome():
    results = [{"status": one} for i, one in enumerate(OUTCOMES) for _ in range(2**i)]
    assert [_count(results, one) for one in OUTCOMES] == [1, 2, 4]
