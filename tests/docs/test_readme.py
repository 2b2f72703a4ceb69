"""Examples of the README and of docstrings work."""

import doctest
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from fences import texts
from orthobench_kit import symmetric_tensors
from orthobench_orthogonal_tensor import maker as orthogonal_tensor
from orthobench_sparse_pca import maker as sparse_pca
from orthobench_stiefel import maker as stiefel
from orthobench_stiefel import orthogonal_group
from orthobench_stochastic_pca import maker as stochastic_pca
from orthobench_tucker import maker as tucker
from orthobench_tucker import sample_moments
from sklearn.datasets import load_digits

import orthobench
from orthobench.cli.main import main

README = Path(__file__).parents[2] / "README.md"


def test_readme_has_at_most_600_words():
    assert len(README.read_text(encoding="utf-8").split()) <= 600


def test_readme_python_gives_orthonormal_columns():
    names = {}
    (code,) = texts(README, "python")
    exec(code, names)  # noqa: S102 - the README's own code
    for name, shape in (("components", (50, 8)), ("point", (50, 4))):
        assert names[name].shape == shape
        np.testing.assert_allclose(names[name].T @ names[name], np.eye(shape[1]), atol=1e-10)


@pytest.mark.wide
@pytest.mark.usefixtures("own_core")
def test_race_prints_the_answer_of_the_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", load_digits().data)
    text = README.read_text(encoding="utf-8")
    (command,) = re.findall(r"^orthobench (race .*)$", text, re.MULTILINE)
    (shown,) = re.findall(r"<!-- race output -->\n```\n(.*?)```", text, re.DOTALL)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command), standalone_mode=False)
    assert ended.value.code == 0
    printed = masked(capsys.readouterr().out)
    sentence, timed, code = parts(masked(shown))
    for part in (sentence, timed, code):
        assert part in printed


def parts(answer):
    """Return the sentence, how it was timed, and the code, without what a busy machine changes."""
    sentence, _, rest = answer.partition(";")
    timed = re.search(r"Timed .* configurations ran", rest)[0]
    return sentence, timed, answer[answer.index("import ") :]


def masked(text):
    """Return an answer without names of solvers and numbers."""
    text = re.sub(r"(Use |solve\(')[\w-]+", r"\1NAME", " ".join(text.split()))
    return re.sub(r"\d[\d.,]*( [mµ]?s\b)?", "#", text)


@pytest.mark.parametrize(
    "module",
    [
        orthobench, stochastic_pca, sparse_pca, orthogonal_group, stiefel, orthogonal_tensor,
        symmetric_tensors, tucker, sample_moments,
    ],
)  # fmt: skip
def test_docstrings_run(module):
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
