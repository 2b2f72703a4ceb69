"""Which commits a range has."""

import pytest

from orthobench.errors import UsageError
from orthobench.history.follow import commits_of
from tests.compare.conftest import git


@pytest.fixture
def hashes(repository):
    return [repository.commit(f"commit {i}") for i in range(7)]


def found(repository, *revisions, **options):
    return [commit.hash for commit in commits_of(repository.root, revisions, **options)]


def test_a_range_has_both_ends_oldest_first(repository, hashes):
    assert found(repository, f"{hashes[2]}..HEAD") == hashes[2:]
    assert found(repository, "HEAD~3..") == hashes[3:]


def test_every_third_commit_is_counted_from_the_newest(repository, hashes):
    assert found(repository, f"{hashes[1]}..HEAD", every=3) == [hashes[i] for i in (1, 3, 6)]


def test_a_merge_counts_as_one_commit(repository, hashes):
    git(repository.root, "checkout", "-q", "-b", "side", hashes[5])
    for _ in range(3):
        repository.commit("on the side")
    git(repository.root, "checkout", "-q", "main")
    git(repository.root, "merge", "-q", "-X", "theirs", "--no-ff", "-m", "merge", "side")
    assert found(repository, "HEAD~2..HEAD") == [
        *hashes[5:],
        git(repository.root, "rev-parse", "HEAD"),
    ]


@pytest.mark.parametrize("text", ["nothing..HEAD", "nothing", "--exec=x", "..nothing"])
def test_an_unknown_revision_is_refused(repository, hashes, text):
    with pytest.raises(UsageError, match=r"no commits|no revision"):
        found(repository, text)


@pytest.mark.parametrize("last", ["HEAD~2..HEAD", "HEAD"])
def test_a_range_beside_others_is_refused(repository, hashes, last):
    with pytest.raises(UsageError, match="one range"):
        found(repository, "HEAD~4..HEAD~2", last)
