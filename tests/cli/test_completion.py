"""Completion in shells, as they ask for it: by environment variables."""

from click.testing import CliRunner

from orthobench.cli.main import main


def test_installed_names_are_completed():
    stiefel = {"stiefel-brockett", "stiefel-procrustes", "stiefel-procrustes-batch"}
    names = {
        "comp": {"compare"},
        "verif": {"verify"},
        "run quick": {"quickstart"},
        "run -s oj": {"oja"},
        "run -p brock": {"brockett"},
        "show incremental-": {"incremental-pca", "incremental-trap"},
        "adv": {"advise"},
        "advise st": {*stiefel, "stochastic-PCA"},
    }
    assert {words: completed(words) for words in names} == names


def completed(words):
    environment = {
        "_ORTHOBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": f"orthobench {words}",
        "COMP_CWORD": str(min(len(words.split()), 3)),
    }
    result = CliRunner().invoke(main, prog_name="orthobench", env=environment)
    return {line.partition(",")[2] for line in result.output.splitlines()} - {""}
