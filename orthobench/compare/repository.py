"""Git, as far as a comparison needs it: the commit that a text means, and its files."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from orthobench.tools.git import GitError, git


@dataclass(frozen=True)
class Repository:
    """A git repository with a working tree.

    Attributes
    ----------
    root : Path
        Top folder of the working tree.
    """

    root: Path

    @classmethod
    def around(cls, folder: Path) -> Repository | None:
        """Return the repository that a folder lies in, or None where there is none.

        Raises
        ------
        GitError
            Where git refuses to read the repository, for instance because it is another user's.
        """
        try:
            root = git(folder, "rev-parse", "--show-toplevel")
        except FileNotFoundError:
            return None
        except GitError as error:
            if "not a git repository" in str(error) or "must be run in a work tree" in str(error):
                return None
            raise
        return cls(Path(root))

    def commit(self, revision: str) -> str | None:
        """Return the full hash of the commit that a revision means, or None."""
        if revision.startswith("-"):
            return None
        try:
            return git(self.root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        except GitError:
            return None

    def has(self, commit: str, path: str) -> bool:
        """Return whether a commit has this file; `path` is relative to the root."""
        try:
            git(self.root, "cat-file", "-e", f"{commit}:{path}")
        except GitError:
            return False
        return True

    def near(self, revision: str) -> list[str]:
        """Return the branches and tags whose names resemble a revision that does not exist."""
        kinds = ("refs/heads", "refs/tags", "refs/remotes")
        names = git(self.root, "for-each-ref", "--format=%(refname:short)", *kinds).splitlines()
        return get_close_matches(revision, names, n=3, cutoff=0.5)

    @property
    def shallow(self) -> bool:
        """Whether the clone lacks the older commits."""
        return git(self.root, "rev-parse", "--is-shallow-repository") == "true"

    @contextmanager
    def checked_out(self, commit: str, folder: Path) -> Iterator[Path]:
        """Give a folder with the files of a commit, without its submodules.

        It is a linked working tree: tags and history are there for build backends that read
        versions from them, and the user's own working tree, index and branch stay as they are.

        Parameters
        ----------
        commit : str
        folder : Path
            Not there yet.
        """
        try:
            git(self.root, "worktree", "add", "--detach", "--force", str(folder), commit)
            yield folder
        finally:
            if folder.exists():
                git(self.root, "worktree", "remove", "--force", "--force", str(folder))

    @contextmanager
    def as_it_is(self, folder: Path) -> Iterator[Path]:
        """Give a folder with the files of the working tree, including changed and new ones.

        Ignored files are left out. History is there as in `checked_out`.

        Parameters
        ----------
        folder : Path
            Not there yet.
        """
        changed = git(self.root, "diff", "--name-only", "--no-renames", "-z", "HEAD")
        new = git(self.root, "ls-files", "--others", "--exclude-standard", "-z")
        with self.checked_out("HEAD", folder):
            for name in filter(None, f"{changed}\0{new}".split("\0")):
                _copy(self.root / name, folder / name)
            yield folder


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a link; remove the target where there is no source."""
    folder = source.is_dir() and not source.is_symlink()
    if folder and not target.is_symlink():  # a submodule, or a repository inside
        return
    target.unlink(missing_ok=True)
    if source.is_file() or source.is_symlink():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
