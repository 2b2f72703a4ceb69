"""Damages files as a stranger could, and gives each to the commands that read it.

    python tests/faults/fuzz.py stores|suites|arrays COUNT [FIRST]

Each of COUNT files is another one; the numbers from FIRST on name them, so that one is made again
by its number. All happens in a process of at most 1 GB, where a file that takes longer than a
minute ends it. Prints what failed: a traceback, a refusal that does not name the file or takes
more than a line, or something written outside the target.
"""

import faulthandler
import os
import resource
import sys
import tempfile
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

MEMORY = 10**9
"""Bytes that the process may allocate."""

SECONDS = 60
"""The longest that a file may take, on any machine."""

WRITES = {"os.remove", "os.rename", "os.link", "os.symlink", "os.mkdir", "os.rmdir", "os.chmod",
          "os.truncate", "os.system", "subprocess.Popen", "socket.connect"}  # fmt: skip


def alien_writes(folder):
    """Return a list that gets what this process does outside a folder from now on."""
    found = []

    def hear(event, values):
        wrote = event in WRITES or (event == "open" and values[2] & (os.O_WRONLY | os.O_RDWR))
        if wrote and not isinstance(values[0], int):  # that file is open already
            path = os.path.abspath(str(values[0]))  # noqa: PTH100 - of a name that may not exist
            if not path.startswith((str(folder), "/dev/null")):
                found.append(f"{event} {path}")

    sys.addaudithook(hear)
    return found


def fuzz(kind, count, first=0):
    """Return what failed, with how often and the number of one file."""
    attack = import_module(f"damaged_{kind}").attack
    failures, example, home = Counter(), {}, Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        cache = f"{name}/.cache"
        os.environ.update(HOME=name, XDG_CACHE_HOME=cache, MPLCONFIGDIR=name, COLUMNS="100")
        os.chdir(folder)
        attack(folder, -1)  # imports and caches
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        aliens = alien_writes(folder)
        for number in range(first, first + count):
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                attack(folder, number)
                fault = aliens.pop() if aliens else None
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                where = f"{Path(place.filename).name}:{place.lineno}"
                fault = f"{type(error).__name__} at {where}: {str(error)[:160]}"
            if fault:
                failures[fault] += 1
                example.setdefault(fault, number)
        faulthandler.cancel_dump_traceback_later()
        os.chdir(home)
    return [f"{n} x, as number {example[fault]}: {fault}" for fault, n in failures.most_common()]


if __name__ == "__main__":
    found = fuzz(sys.argv[1], *map(int, sys.argv[2:]))
    print(*found, f"{sys.argv[2]} {sys.argv[1]}, {len(found)} kinds of failure", sep="\n")  # noqa: T201
    sys.exit(bool(found))
