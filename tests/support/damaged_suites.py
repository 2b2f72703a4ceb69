"""Suites that are damaged by someone who knows their keys, as text and as tables."""

import json
import random
import tomllib

from commands import refusal
from damaged_stores import mutated

SUITE = """
description = "what a stranger sends"
seeds = 2
threads = 1
levels = { density = [0.5] }
budget = { samples = 50 }
target = { metric = "suboptimality", value = 0.1 }
tuning = { trials = 4 }
problem = [{ name = "spiked-covariance", k = [1, 2], n = 20 }]
solver = [{ name = "oja", step = { tune = [0.5, 1] } }, { name = "batch-pca", label = "b" }]
"""

LINES = ("[[problem]]", "[budget]", "[[solver]]", "=", "]]", "seeds = [", "[a.b.c]", "a.b = 1",
         '"" = 1', "seeds = -1", "seeds = 0x7fffffffffffffff", "x = 1979-05-27T07:32:00",
         "threads = 1e9", "budget = []", "budget.samples = inf", "budget.seconds = nan", "\0",
         "budget.steps = -1", "description = '''", "name = 1", "\ufeff", "problem = 3",
         "target = {}", "tuning = { trials = 0 }", "levels = { x = [] }", "[" * 2000,
         "seeds = " + "[" * 3000, "x = " + "{a=" * 3000, 'solver = [{ name = "" }]',
         'problem = [{ name = "npy-stochastic-pca", path = "/nowhere" }]')  # fmt: skip


def attack(folder, number):
    """Write a suite, and ask what of it would run."""
    chance = random.Random(number)  # noqa: S311
    table = tomllib.loads(SUITE)
    if number >= 0:
        for _ in range(chance.choice([1, 1, 2, 5])):
            changed = mutated(table, chance)
            table = changed if isinstance(changed, dict) and changed else table
    lines = [f"{quoted(key)} = {toml(value)}" for key, value in table.items()]
    if number >= 0 and chance.random() < 0.3:
        lines.insert(chance.randrange(len(lines) + 1), chance.choice(LINES))
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    if number >= 0 and chance.random() < 0.2:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice([b"", chance.randbytes(3)]) + text[at + 1 :]
    path = folder / "suite.toml"
    path.write_bytes(text)
    refusal(["run", path, "--explain", "--store", folder / "none.sqlite"])
    assert [p.name for p in folder.iterdir() if p.suffix == ".sqlite"] == []


def toml(value):
    """A value in TOML; what it cannot say becomes a text."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(k)} = {toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, float):
        return repr(value)
    return quoted(value) if isinstance(value, str) else json.dumps(value).replace("null", '"null"')


def quoted(text):
    """A text in TOML."""
    return json.dumps(str(text))
