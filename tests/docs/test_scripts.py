"""The scripts that draw the pictures of pages still run, on less than what the pages show."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import orthobench as ob

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.slow
DOCS = Path(__file__).parents[2] / "docs"


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_derivatives(tmp_path):
    script("derivatives").main(tmp_path)
    assert [*tmp_path.glob("*.png")]


def test_orthogonalization(tmp_path, monkeypatch, capsys):
    module = script("orthogonalization")
    for name, less in (("COLUMNS", 16), ("TURNS", 1), ("SEEDS", 1), ("RATES", (0.1,))):
        monkeypatch.setattr(module, name, less)
    module.main(tmp_path)
    assert len([*tmp_path.glob("*.png")]) == 2
    name, parameters = module.SPECTRA["Gaussian, 256 × 128"]
    made = module.problem(name, parameters).build(np.random.default_rng(0))
    products, distances = module.curve("qdwh", {}, made)
    assert len(products) > 3
    assert distances[-1] < module.LEAST < distances[0]
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[1:]] == [f"| {label}" for label in module.TRAINING]


def test_weights(tmp_path, monkeypatch, capsys):
    module = script("weights")
    steps = (
        {"name": name, "batch": 50, "step": step}
        for name in ("landing", "spel")
        for step in (0.1, 1e-4)
    )
    suite = {
        "seeds": 2,
        "problem": [{"name": "orthogonal-network", "budget": {"samples": 2000}}],
        "solver": [{**one, "label": f"{one['name']} {one['step']}"} for one in steps],
    }
    store = tmp_path / "store.sqlite"
    ob.run(suite, store, quiet=True)
    monkeypatch.setattr(module, "SUITE", "suite")
    monkeypatch.setattr(module, "PICTURE", tmp_path / "picture.png")
    module.main([store])
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == module.TITLES["digits"]
    names, chosen, seeds = zip(*(line.split(" | ")[:3] for line in printed[2:]), strict=True)
    assert {*names} == {"| `landing`", "| `spel`"}
    assert {*chosen} == {"0.1"}  # a step of 1e-4 hardly leaves the start
    assert {*seeds} == {"2"}
    assert module.PICTURE.stat().st_size > 0
