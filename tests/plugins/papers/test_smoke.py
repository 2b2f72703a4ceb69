"""Each claim of each paper, from its suite through executor, store and check, at the smoke size."""

import made_up_data
import pytest
from orthobench_papers.reproduce.check import check
from orthobench_papers.reproduce.claims import Verdict
from orthobench_papers.reproduce.installed import catalogue
from orthobench_papers.reproduce.publish import plotted
from orthobench_papers.reproduce.runs import Evidence
from orthobench_papers.tucker_2022 import section_5_1, section_5_2

from orthobench.harness.suite import SMOKE

pytest.importorskip("rdata")

pytestmark = pytest.mark.wide

PAPERS = [provided.item for provided in catalogue().papers.values()]

TOO_SMALL = {"one-step-fewer-of-others"}
"""Claims that two seeds do not decide as all seeds do, although they run no suite."""


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """Have small made-up files in the data folder."""
    kept = section_5_1.covariance, section_5_2.outcome
    with pytest.MonkeyPatch.context() as patch:
        made_up_data.served(patch, tmp_path_factory.mktemp("data"))
        yield
        for cached in kept:
            cached.cache_clear()


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_every_claim_reaches_a_verdict_and_every_picture_is_drawn(paper, tmp_path):
    runs = Evidence(paper, tmp_path, SMOKE, quiet=True)
    checked = list(check(paper.claims, runs))
    assert {one.claim.name: one.error for one in checked if one.error} == {}
    untested = {c.claim.name for c in checked if c.measurement.verdict is Verdict.UNTESTABLE}
    assert untested == {claim.name for claim in paper.claims if claim.check is None}
    for one in checked:
        claim, verdict = one.claim, one.measurement.verdict
        if not (claim.suites or claim.data or claim.name in TOO_SMALL):
            assert verdict in {claim.known, Verdict.UNDECIDED, Verdict.UNTESTABLE}, one
    used = {suite for claim in paper.claims for suite in claim.suites}
    assert set(runs.results) == used == {path.stem for path in paper.suites.glob("*.toml")}
    for picture in paper.pictures:
        assert plotted(picture, picture.plot(runs)).sheet
