"""Submissions: a store with what one needs to repeat it, in one file that can be sent.

It is a zip archive of two entries, ``submission.json`` and ``results.sqlite``. Equal stores give
equal files. One that somebody else made is data: both entries are checked before they are read, and
nothing is unpacked but the store, into a temporary folder.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from orthobench.errors import StoreError, UsageError
from orthobench.results import checks, private, tiers
from orthobench.results.results import store_at
from orthobench.results.store import FILE, Store
from orthobench.tools.files import bare, opened, replacing

FORMAT = "orthobench submission 1"
"""What the file says that it is."""

FACTS = "submission.json"

LARGEST = 100 * 2**20
"""Most bytes of a submission: GitHub takes no larger file."""

LARGEST_STORE = 512 * 2**20
"""Most bytes of its store, unpacked."""

LARGEST_FACTS = 2**20
"""Most bytes of `FACTS`, unpacked."""

LONGEST = 500
"""Most characters of the author and of the note."""

_END = struct.Struct("<4s4H2IH")
"""The end of an archive."""

_LOCATOR = b"PK\x06\x07" + bytes(16)
"""What stands before it in an archive with 64-bit sizes, which no submission needs."""

_MOST_DIRECTORY = 1024


@dataclass(frozen=True)
class Submission:
    """What a submission says of itself, beside its store.

    Attributes
    ----------
    sha256 : str
        Of the store, in hexadecimal.
    author, note : str
        As the submitter wrote them: data, for people.
    cells : int
        Finished ones.
    suites : tuple of str
    versions : mapping
        Of the distributions that solvers, problems and core come from.
    environment : mapping
        What the latest session ran on.
    """

    sha256: str
    author: str = ""
    note: str = ""
    cells: int = 0
    suites: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)


def is_submission(path: Path) -> bool:
    """Return whether a file begins as a zip archive."""
    try:
        with opened(path) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def pack(
    store: Path, out: Path, author: str = "", note: str = "", anonymous: bool = False
) -> Submission:
    """Write a submission, all of it or nothing.

    Parameters
    ----------
    store : Path
    out : Path
    author, note : str
        At most `LONGEST` characters of a single line each.
    anonymous : bool
        Whether to leave out the machine, folders in command lines and suites, and tracebacks. What
        identifies a cell stays, files that its problem reads among it.

    Raises
    ------
    StoreError, UsageError
        Where the store is damaged, empty or too large, or a text too long.
    """
    for name, text in (("author", author), ("note", note)):
        if len(text) > LONGEST or not text.isprintable():
            raise UsageError(f"the {name} must be one line of at most {LONGEST} characters")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / FILE
        _copy(store, copy, anonymous)
        content = copy.read_bytes()
        facts = _facts(copy, hashlib.sha256(content).hexdigest(), author, note)
    if len(content) > LARGEST_STORE:
        raise UsageError(f"the store {store} is larger than {LARGEST_STORE} bytes: make several")
    with replacing(out) as file:
        told = json.dumps({"format": FORMAT, **asdict(facts)}, indent=1, sort_keys=True)
        _zip(file, {FACTS: f"{told}\n".encode(), FILE: content})
        if file.tell() > LARGEST:
            raise UsageError(f"{out} would be larger than {LARGEST} bytes: submit several stores")
    return facts


@contextmanager
def unpacked(path: Path) -> Iterator[tuple[Path, Submission]]:
    """Unpack the store of a submission into a temporary folder, which is removed afterwards.

    The tiers that are beside the submission are beside the store then.

    Raises
    ------
    StoreError
        Where the file is no submission, is damaged, or has anything else in it.
    """
    facts, content = read(path)
    known = tiers.read(tiers.beside(path))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / FILE
        store.write_bytes(content)
        del content
        tiers.write(known, tiers.beside(store))
        yield store, facts


@contextmanager
def store_of(path: Path) -> Iterator[tuple[Path, Submission | None]]:
    """Give the store that a path means: a file, that of a folder, or that of a submission.

    Raises
    ------
    StoreError
        As for `unpacked`.
    """
    if is_submission(path):
        with unpacked(path) as found:
            yield found
    else:
        yield store_at(path), None


def read(path: Path) -> tuple[Submission, bytes]:
    """Return what a submission says of itself, and its store; both are checked.

    Raises
    ------
    StoreError
        As for `unpacked`.
    """
    try:
        with opened(path) as file:
            return _read(file)
    except OSError as error:
        raise StoreError(f"cannot read the submission {path}: {error.strerror or error}") from None
    except (
        zipfile.BadZipFile, zlib.error, struct.error, ValueError, LookupError, TypeError,
        ArithmeticError, RuntimeError, EOFError,
    ) as error:  # fmt: skip
        raise StoreError(f"{path} is no submission ({error!s:.200}); ask for another") from None


def _read(file: IO[bytes]) -> tuple[Submission, bytes]:
    _refuse_other_zips(file)
    with zipfile.ZipFile(file) as archive:
        told = json.loads(_entry(archive, FACTS, LARGEST_FACTS))
        facts = _checked(told)
        content = _entry(archive, FILE, LARGEST_STORE)
    if hashlib.sha256(content).hexdigest() != facts.sha256:
        raise ValueError("its store is not the one that was packed")
    return facts, content


def _refuse_other_zips(file: IO[bytes]) -> None:
    """Refuse an archive of anything but two entries, before its directory is read."""
    size = file.seek(0, 2)
    if size > LARGEST:
        raise ValueError(f"it has {size} bytes, where a submission has at most {LARGEST}")
    file.seek(max(0, size - len(_LOCATOR) - _END.size))
    end = file.read()
    signature, *_, entries, directory, _, comment = _END.unpack(end[len(_LOCATOR) :])
    if (
        signature != b"PK\x05\x06"
        or end.startswith(_LOCATOR[:4])
        or entries != 2
        or directory > _MOST_DIRECTORY
        or comment
    ):
        raise ValueError("it is not a zip archive of two entries")


def _entry(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return an entry, of which no more than `most` bytes are unpacked."""
    if sorted(archive.namelist()) != [FILE, FACTS]:
        raise ValueError(f"it has other entries than {FACTS} and {FILE}")
    about = archive.getinfo(name)
    if about.flag_bits & 1 or about.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"its {name} is not plainly compressed")
    with archive.open(about) as entry:
        found = entry.read(most + 1)
    if len(found) > most:
        raise ValueError(f"its {name} has more than {most} bytes")
    return found


def _checked(told: Any) -> Submission:
    """Return what a submission says of itself, or raise ValueError."""
    if not isinstance(told, dict) or told.pop("format", None) != FORMAT:
        raise checks.MisfitError(f"it does not say that its format is {FORMAT!r}")
    given = told.get("suites")
    suites: list[Any] = given if isinstance(given, list) else [None]
    for text in (*map(told.get, ("sha256", "author", "note")), *suites):
        if not isinstance(text, str) or len(text) > LONGEST or not text.isprintable():
            raise checks.MisfitError(f"{text!r:.60} is no line of text")
    if not isinstance(told.get("cells"), int):
        raise checks.MisfitError(f"it has {told.get('cells')!r:.60} cells")
    checks.texts(told.get("versions"), "its versions")
    checks.environment_of(told.get("environment"))
    return Submission(**{**told, "suites": tuple(suites)})


def _copy(store: Path, copy: Path, anonymous: bool) -> None:
    """Copy a store into a single new file, which has nothing that was removed."""
    with Store(store) as source, closing(sqlite3.connect(copy)) as target:
        source.copy_to(target)
        if anonymous:
            _forget(target)
        target.commit()
        target.execute("VACUUM")


def _forget(connection: sqlite3.Connection) -> None:
    """Remove the machine, folders and tracebacks."""
    for number, *told, environment in connection.execute(
        "SELECT id, text, command, environment FROM session"
    ).fetchall():
        known = json.loads(environment)
        kept = json.dumps({name: known[name] for name in private.KEPT if name in known})
        connection.execute(
            "UPDATE session SET text = ?, command = ?, environment = ? WHERE id = ?",
            (*map(bare, told), kept, number),
        )
    connection.execute("INSERT OR IGNORE INTO text (value) VALUES ('')")
    connection.execute("CREATE TEMP TABLE gone AS SELECT DISTINCT traceback AS id FROM result")
    connection.execute("UPDATE result SET traceback = (SELECT id FROM text WHERE value = '')")
    connection.execute("DELETE FROM text WHERE value <> '' AND id IN (SELECT id FROM gone)")


def _facts(store: Path, sha256: str, author: str, note: str) -> Submission:
    with Store(store) as opened_store:
        contents, suites = opened_store.contents().values(), opened_store.suites()
        if not contents or not suites:
            raise UsageError(f"the store {store} has no finished cell: there is nothing to submit")
        versions: dict[str, set[str]] = {}
        for content in contents:
            for name, version in content["versions"].items():
                versions.setdefault(name, set()).add(version)
        return Submission(
            sha256, author, note, len(contents), tuple(suites),
            {name: ", ".join(sorted(found)) for name, found in sorted(versions.items())},
            opened_store.session(suites[-1])["environment"],
        )  # fmt: skip


def _zip(file: IO[bytes], entries: Mapping[str, bytes]) -> None:
    """Write entries with one date and mode, so that equal ones make equal archives."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in entries.items():
            about = zipfile.ZipInfo(name)
            about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(about, content)
