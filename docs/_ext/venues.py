"""Venues and addresses of the papers whose claims are checked, for the table of papers."""

from __future__ import annotations

GITHUB = "https://github.com"

VENUES: dict[str, tuple[str, str]] = {
    "cca-packages": ("GitHub, 2019", f"{GITHUB}/scikit-learn/scikit-learn/issues/14169"),
    "givens-2014": ("ICML 2014", "arXiv:1312.0624"),
    "gram-newton-schulz": ("GitHub, 2026", f"{GITHUB}/Dao-AILab/gram-newton-schulz"),
    "landing-2022": ("AISTATS 2022", "arXiv:2102.07432"),
    "manifold-muon-2025": (
        "Thinking Machines, 2025", "https://thinkingmachines.ai/blog/modular-manifolds/",
    ),
    "msg-2013": ("NeurIPS 2013", "arXiv:1307.1674"),
    "mspca-2026": ("R package, 2026", ""),
    "muon-2024": ("blog, 2024", "https://kellerjordan.github.io/posts/muon/"),
    "oft-2026": ("GitHub, 2026", f"{GITHUB}/Nerogar/OneTrainer/pull/1512"),
    "parameter-golf-2026": ("GitHub, 2026", f"{GITHUB}/openai/parameter-golf/pull/1516"),
    "pogo-2026": ("ICML 2026", "arXiv:2602.14656"),
    "polar-express-2025": ("preprint, 2025", "arXiv:2505.16932"),
    "rsdm-2025": ("ICML 2025", "arXiv:2505.12378"),
    "scipy-svds-2023": ("GitHub, 2023", f"{GITHUB}/scipy/scipy/issues/18945"),
    "spel-2026": ("preprint, 2026", "arXiv:2601.21487"),
    "tucker-2022": ("preprint, 2022; SIMAX 45, 2024", "10.1137/23M1582928"),
    "turbo-muon-2025": ("preprint, 2025", "arXiv:2512.04632"),
    "wen-yin-2013": ("Mathematical Programming 142, 2013", "10.1007/s10107-012-0584-1"),
}  # fmt: skip
"""The venue of each paper, and its DOI, its number at arXiv, or the address of what has none."""


def link(address: str) -> str:
    """Return a DOI, a number at arXiv or an address as a link in Markdown."""
    if not address or address.startswith("https://"):
        return f"[link]({address})" if address else "-"
    doi = address.replace("arXiv:", "10.48550/arXiv.")
    return f"[{address}](https://doi.org/{doi})"
