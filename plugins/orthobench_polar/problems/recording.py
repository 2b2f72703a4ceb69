"""Records gradients, momenta and weights of a small transformer block in training.

``python -m orthobench_polar.problems.recording`` writes
`orthobench_polar.problems.spectra.RECORDED` from the help of Python. It needs PyTorch and half a
minute.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from orthobench_polar.problems.spectra import RECORDED

WIDTH = 64
LENGTH = 64
"""Numbers for each character, and characters of a sequence."""

BATCH = 32
MOMENTUM = 0.95
RATE = 0.02
RECORDED_STEPS = (1, 30, 100, 300)
"""The training steps that are recorded."""

LAYERS = {"attention": "self_attn.in_proj_weight", "expand": "linear1", "contract": "linear2"}
"""The matrices that are recorded, by the names of `NetworkPolar`."""


def record() -> dict[str, np.ndarray]:
    """Train the block, and return its matrices by kind and layer, shape (steps, n, p)."""
    import torch

    torch.manual_seed(0)
    text = torch.tensor(encoded(), dtype=torch.long)
    embedding = torch.nn.Embedding(int(text.max()) + 1, WIDTH)
    places = torch.nn.Embedding(LENGTH, WIDTH)
    block = torch.nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, batch_first=True)
    head = torch.nn.Linear(WIDTH, int(text.max()) + 1)
    parameters = [p for m in (embedding, places, block, head) for p in m.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=RATE, momentum=MOMENTUM)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH)
    named = dict(block.named_parameters())
    found: dict[str, list[np.ndarray]] = {}
    for step in range(1, max(RECORDED_STEPS) + 1):
        begin = torch.randint(len(text) - LENGTH - 1, (BATCH,))
        rows = text[begin[:, None] + torch.arange(LENGTH + 1)]
        inner = embedding(rows[:, :-1]) + places.weight
        guesses = head(block(inner, src_mask=mask, is_causal=True))
        loss = torch.nn.functional.cross_entropy(guesses.flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call,unused-ignore]
        optimizer.step()
        if step in RECORDED_STEPS:
            for layer, name in LAYERS.items():
                weight = named[name if name in named else f"{name}.weight"]
                kinds = {
                    "gradient": weight.grad,
                    "momentum": optimizer.state[weight]["momentum_buffer"],
                    "weight": weight,
                }
                for kind, values in kinds.items():
                    found.setdefault(f"{kind}_{layer}", []).append(_half(values))
    return {name: np.stack(steps) for name, steps in found.items()}


def encoded() -> list[int]:
    """Return the help that comes with Python as numbers of its characters."""
    from pydoc_data.topics import topics

    text = "".join(topics[name] for name in sorted(topics))
    alphabet = sorted(set(text))
    numbers = {character: number for number, character in enumerate(alphabet)}
    return [numbers[character] for character in text]


def _half(values: Any) -> np.ndarray:
    found = values.detach().numpy().astype(np.float64)
    return np.asarray((found / np.abs(found).max()).astype(np.float16))


if __name__ == "__main__":
    np.savez_compressed(RECORDED, **record())  # type: ignore[arg-type]
