"""Archives of black-box optimizers: those of COCO, and those of IOHprofiler.

COCO writes a text ``*.info`` for each function with a line for each dimension and its runs, and
their curves in ``*.dat``: in the first column the number of evaluations, in the third the best
value so far less the optimum (Hansen et al. 2021, "COCO: a platform for comparing continuous
optimizers in a black-box setting", Optim. Methods Softw. 36). IOHprofiler writes JSON with
scenarios, and curves with the columns ``evaluations`` and ``raw_y``
(https://iohprofiler.github.io/IOHanalyzer/data); there values may rise again.
"""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orthobench.errors import DataError, quoted
from orthobench.results.imports.curves import Curve, Point

REPEATS = 1000
"""The r-th repeat of an instance has the seed instance + r times this."""

UNIT = "evaluations"

Numbered = tuple[int, str]
"""A line, with its number in the file."""


def coco(files: Mapping[str, bytes]) -> list[Curve]:
    """Return the curves of all ``*.info`` files of COCO: a problem for each function and dimension.

    Raises
    ------
    DataError
        If a file is not as COCO writes it, or a file of curves is missing; says the line.
    """
    found: list[Curve] = []
    for name in sorted(n for n in files if n.endswith(".info")):
        about: dict[str, str] = {}
        for number, line in _lines(files, name):
            if "=" in line and not line.startswith("%"):
                about = _assignments(line)
            elif line and not line.startswith("%"):
                found += _of_line(files, name, number, line, about)
    return found


def _assignments(line: str) -> dict[str, str]:
    """Return ``funcId = 1, algId = 'BFGS'`` as texts by name."""
    pairs = re.findall(r"(\w+)\s*=\s*('[^']*'|[^,]*)", line)
    return {name: value.strip().strip("'") for name, value in pairs}


def _of_line(
    files: Mapping[str, bytes], name: str, number: int, line: str, about: Mapping[str, str]
) -> Iterator[Curve]:
    """Yield the runs of ``data_f1/bbobexp_f1_DIM2.dat, 1:17|1.2e-9, 2:33|3.0e-9``."""
    path, *runs = [part.strip() for part in line.split(",")]
    ends = [re.fullmatch(r"(\d+):(\d+)(\|.*)?", run) for run in runs]
    if not {"funcId", "DIM", "algId"} <= {*about} or not all(ends):
        raise DataError(f"{name} line {number} is not as COCO writes it: fetch the archive again")
    data = posixpath.join(posixpath.dirname(name), path.replace("\\", "/"))
    blocks = _blocks(files, data, lambda text: text.startswith("%"))
    suite = about.get("suite", "")
    problem = f"{suite} f{about['funcId']} d={about['DIM']}".strip()
    told = [(int(end[1]), int(end[2])) for end in ends if end]
    _refuse_other_number(data, len(blocks), f"{name} line {number}", len(told))
    for seed, (_, end), block in zip(_seeds(told), told, blocks, strict=True):
        yield _curve(problem, about["algId"], seed, _points(block, data, (0, 2)), end)


def ioh(files: Mapping[str, bytes]) -> list[Curve]:
    """Return the curves of all JSON files of IOHprofiler, problems as of `coco`.

    Raises
    ------
    DataError
        If a file is not as IOHprofiler writes it, or a file of curves is missing; says the line.
    """
    found: list[Curve] = []
    for name in sorted(n for n in files if n.endswith(".json")):
        try:
            about = json.loads(files[name])
            facts = [(s["dimension"], s["path"], s["runs"]) for s in about["scenarios"]]
            function = f"f{about['function_id']} {about.get('function_name', '')}".strip()
            solver, sign = about["algorithm"]["name"], -1.0 if about["maximization"] else 1.0
            columns = [about["attributes"].index(title) for title in (UNIT, "raw_y")]
            for dimension, path, runs in facts:
                told = [(int(run["instance"]), int(run["evals"])) for run in runs]
                data = posixpath.join(posixpath.dirname(name), path)
                blocks = _blocks(files, data, lambda text: text.startswith(UNIT))
                _refuse_other_number(data, len(blocks), name, len(told))
                problem = f"{function} d={dimension}"
                for seed, (_, end), block in zip(_seeds(told), told, blocks, strict=True):
                    points = _points(block, data, columns, sign)
                    found.append(_curve(problem, str(solver), seed, points, end))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{name} is not as IOHprofiler writes it ({quoted(error)}): fetch it again"
            ) from None
    return found


def _refuse_other_number(data: str, blocks: int, name: str, runs: int) -> None:
    if blocks != runs:
        raise DataError(f"{data} has {blocks} runs, and {name} has {runs}: fetch the archive again")


def _curve(problem: str, solver: str, seed: int, points: Sequence[Point], end: int) -> Curve:
    """Return a curve of best values so far to its last evaluation, whose first one is the start."""
    best, found = math.inf, []
    for point in points:
        best = min(best, point.value)
        found.append(Point(point.cost, best))
    found.append(Point(max(float(end), points[-1].cost), best))
    return Curve(problem, solver, seed, found, UNIT, points[0].value)


def _seeds(told: Sequence[tuple[int, int]]) -> list[int]:
    """Return the instances of runs, the repeats of which are told apart."""
    seen: Counter[int] = Counter()
    found = []
    for instance, _ in told:
        found.append(instance + REPEATS * seen[instance])
        seen[instance] += 1
    return found


def _lines(files: Mapping[str, bytes], name: str) -> Iterator[Numbered]:
    if name not in files:
        raise DataError(f"the file {name} is missing: fetch the archive again")
    text = files[name].decode("utf-8", "replace")
    return ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))


def _blocks(files: Mapping[str, bytes], name: str, head: Any) -> list[list[Numbered]]:
    """Return the lines of each run, which begins after a head; heads that follow one are one."""
    blocks: list[list[Numbered]] = []
    begun = False
    for number, line in _lines(files, name):
        if head(line):
            begun = True
        elif line:
            if begun or not blocks:
                blocks.append([])
            begun = False
            blocks[-1].append((number, line))
    return blocks


def _points(
    block: Sequence[Numbered], name: str, columns: Sequence[int], sign: float = 1.0
) -> list[Point]:
    found = []
    for number, line in block:
        words = line.split()
        try:
            cost, value = (float(words[column]) for column in columns)
        except (ValueError, IndexError):
            raise DataError(f"{name} line {number} is no row of numbers: {quoted(line)}") from None
        if not 0 <= cost < math.inf:
            raise DataError(f"{name} line {number} has {quoted(words[columns[0]])} evaluations")
        found.append(Point(cost, sign * value))
    return found
