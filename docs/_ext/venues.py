"""Addresses of papers: of those whose claims are checked, and of those that methods come from."""

from __future__ import annotations

import re

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


DOIS: dict[str, str] = {
    "A multilinear singular value decomposition": "10.1137/S0895479896305696",
    "On the best rank-1": "10.1137/S0895479898346995",
    "Ablin and Peyré 2022": "arXiv:2102.07432",
    "Ablin, Vary, Gao and Absil 2024": "arXiv:2303.16510",
    "Absil, Baker and Gallivan 2007": "10.1007/s10208-005-0179-9",
    "Absil, Mahony and Sepulchre 2008": "10.1515/9781400830244",
    "Anandkumar, Ge, Hsu, Kakade and Telgarsky 2014": "arXiv:1210.7559",
    "Arora, Cotter and Srebro 2013": "arXiv:1307.1674",
    "Baglama and Reichel 2005": "10.1137/04060593X",
    "Balzano, Nowak and Recht 2010": "arXiv:1006.4046",
    "Barzilai and Borwein 1988": "10.1093/imanum/8.1.141",
    "Benson, Gleich and Demmel 2013": "arXiv:1301.1071",
    "Björck and Bowie 1971": "10.1137/0708036",
    "Björck and Golub 1973": "10.1090/S0025-5718-1973-0348991-3",
    "Chapman, Wells and Aguila 2024": "arXiv:2310.01012",
    "Cory-Wright and Pauphilet 2026": "arXiv:2209.14790",
    "Edelman, Arias and Smith 1998": "10.1137/S0895479895290954",
    "Ge, Jin, Kakade, Netrapalli and Sidford 2016": "arXiv:1604.03930",
    "Ghashami, Liberty, Phillips and Woodruff 2016": "10.1137/15M1009718",
    "Halko, Martinsson and Tropp 2011": "10.1137/090771806",
    "Han, Poirion and Takeda 2025": "arXiv:2505.12378",
    "He and Kressner 2024": "arXiv:2212.07248",
    "Henriksen and Ward 2019": "arXiv:1905.12115",
    "Higham 1986": "10.1137/0907079",
    "Higham 2008": "10.1137/1.9780898717778",
    "Hotelling 1936": "10.1093/biomet/28.3-4.321",
    "Hyvärinen 1999": "10.1109/72.761722",
    "Javaloy and Vergari 2026": "arXiv:2602.14656",
    "Jin, Kileel, Kolda and Ward 2022": "10.1137/23M1582928",
    "Journée, Nesterov, Richtárik and Sepulchre 2010": "arXiv:0811.4724",
    "Kileel and Pereira 2019": "arXiv:1912.04007",
    "Kingma and Ba 2015": "arXiv:1412.6980",
    "Knyazev 2001": "10.1137/S1064827500366124",
    "Kolda and Bader 2009": "10.1137/07070111X",
    "Lehoucq, Sorensen and Yang 1998": "10.1137/1.9780898719628",
    "Liberty 2013": "arXiv:1206.0594",
    "Mairal, Bach, Ponce and Sapiro 2009": "10.1145/1553374.1553463",
    "Musco and Musco 2015": "arXiv:1504.05477",
    "Nakatsukasa and Freund 2016": "10.1137/140990334",
    "Nakatsukasa and Higham 2013": "10.1137/120876605",
    "Nakatsukasa, Bai and Gygi 2010": "10.1137/090774999",
    "Nakatsukasa, Sete and Trefethen 2018": "10.1137/16M1106122",
    "Ross, Lim, Lin and Yang 2008": "10.1007/s11263-007-0075-7",
    "Shalit and Chechik 2014": "arXiv:1312.0624",
    "Shamir 2015": "arXiv:1409.2848",
    "Stathopoulos and McCombs 2010": "10.1145/1731022.1731031",
    "Townsend, Koep and Weichwald 2016": "arXiv:1603.03236",
    "Vannieuwenhoven, Vandebril and Meerbergen 2012": "10.1137/110836067",
    "Wen and Yin 2013": "10.1007/s10107-012-0584-1",
    "Weng, Zhang and Hwang 2003": "10.1109/TPAMI.2003.1217609",
    "Wu, Romero and Stathopoulos 2017": "10.1137/16M1082214",
    "Yang, Hsieh and Wang 2018": "arXiv:1802.05447",
    "Yuan and Zhang 2013": "arXiv:1112.2679",
    "Zhang and Hager 2004": "10.1137/S1052623403428208",
}
"""The DOI or the number at arXiv of papers, by the words that sources name them with."""

ARXIV = re.compile(r"arXiv[: ](\d{4}\.\d{4,5})")


def url(address: str) -> str:
    """Return the address at which a DOI or a number at arXiv resolves."""
    return f"https://doi.org/{address.replace('arXiv:', '10.48550/arXiv.')}"


def linked_papers(text: str) -> str:
    """Return a text in which papers of `DOIS` and numbers at arXiv are links in Markdown."""
    for words, address in DOIS.items():
        text = text.replace(words, f"[{words}]({url(address)})", 1)
    return ARXIV.sub(lambda found: link(f"arXiv:{found[1]}"), text)


def link(address: str) -> str:
    """Return a DOI, a number at arXiv or an address as a link in Markdown."""
    if not address or address.startswith("https://"):
        return f"[link]({address})" if address else "-"
    return f"[{address}]({url(address)})"
