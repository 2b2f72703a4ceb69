"""Archives of black-box optimizers: those of COCO and those of IOHprofiler.

COCO writes a text ``*.info`` for each function, with a line for each dimension and its runs. The
curves are in ``*.dat``: the number of evaluations in the first column, the best value so far less
the optimum in the third. The source is Hansen et al. 2021, "COCO: a platform for comparing
continuous optimizers in a black-box setting", Optim. Methods Softw. 36.

IOHprofiler writes JSON with scenarios, and curves with the columns ``evaluations`` and ``raw_y``
(https://iohprofiler.github.io/IOHanalyzer/data).
"""

from __future__ import annotations

import json
import math
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from orthobench.errors import DataError, quoted
from orthobench.results.checks import ERRORS
from orthobench_bridges.curves import Curve, Point, checked

REPEATS = 1000
"""Repeat r of an instance has the seed instance + r * REPEATS."""

UNIT = "evaluations"

Ends = Sequence[tuple[int, int]]
"""The instance of each run, and the number of its evaluations."""


def coco(files: Mapping[str, bytes], name: str) -> list[Curve]:
    """Return the curves of an ``*.info`` file: a problem for each function and dimension.

    Raises
    ------
    DataError
        If a file is damaged or missing; names the line.
    """
    found: list[Curve] = []
    about: dict[str, str] = {}
    for number, line in _lines(files, name):
        if line.startswith("%"):
            continue
        if "=" in line:
            pairs = re.findall(r"(\w+)\s*=\s*('[^']*'|[^,]*)", line)
            about = {key: value.strip().strip("'") for key, value in pairs}
            continue
        path, *runs = [part.strip() for part in line.split(",")]
        ends = [re.fullmatch(r"(\d{1,15}):(\d{1,15})(\|.*)?", run) for run in runs]
        if not {"funcId", "DIM", "algId"} <= {*about} or None in ends:
            raise DataError(f"{name} line {number} is damaged: fetch the archive again")
        problem = f"{about.get('suite', '')} f{about['funcId']} d={about['DIM']}".strip()
        data = posixpath.join(posixpath.dirname(name), path.replace("\\", "/"))
        known = [(int(end[1]), int(end[2])) for end in ends if end]
        found += _curves(files, data, "%", (0, 2), known, problem, about["algId"])
    return found


def ioh(files: Mapping[str, bytes], name: str) -> list[Curve]:
    """Return the curves of a JSON file, with problems as `coco` has.

    Raises
    ------
    DataError
        If a file is damaged or missing; names the line.
    """
    found: list[Curve] = []
    try:
        about = json.loads(files[name])
        function = f"f{about['function_id']} {about.get('function_name', '')}".strip()
        solver, sign = str(about["algorithm"]["name"]), -1 if about["maximization"] else 1
        columns = [about["attributes"].index(title) for title in (UNIT, "raw_y")]
        for scenario in about["scenarios"]:
            ends = [(int(run["instance"]), int(run["evals"])) for run in scenario["runs"]]
            data = posixpath.join(posixpath.dirname(name), scenario["path"])
            problem = f"{function} d={scenario['dimension']}"
            found += _curves(files, data, UNIT, columns, ends, problem, solver, sign)
    except DataError:
        raise
    except (*ERRORS, ArithmeticError) as error:
        raise DataError(f"{name} is damaged ({quoted(error)}): fetch it again") from None
    return found


def _curves(
    files: Mapping[str, bytes], name: str, head: str, columns: Sequence[int], ends: Ends,
    problem: str, solver: str, sign: int = 1,
) -> Iterator[Curve]:  # fmt: skip
    """Yield the curves in a file, of the best values so far; the first value is the start."""
    blocks = _blocks(files, name, head, columns)
    if len(blocks) != len(ends):
        raise DataError(f"{name} has {len(blocks)} runs, not {len(ends)}: fetch the archive again")
    repeats: Counter[int] = Counter()
    for (instance, end), block in zip(ends, blocks, strict=True):
        best, points = math.inf, []
        for cost, value in block:
            best = min(best, sign * value)
            points.append(Point(cost, best))
        points.append(Point(max(float(end), points[-1].cost), best))
        seed = instance + REPEATS * repeats[instance]
        repeats[instance] += 1
        yield checked(Curve(problem, solver, seed, points, UNIT, sign * block[0][1]), name)


def _lines(files: Mapping[str, bytes], name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    if name not in files:
        raise DataError(f"the file {name} is missing: fetch the archive again")
    text = files[name].decode("utf-8", "replace")
    return (pair for pair in enumerate(map(str.strip, text.splitlines()), 1) if pair[1])


def _blocks(
    files: Mapping[str, bytes], name: str, head: str, columns: Sequence[int]
) -> list[list[tuple[float, float]]]:
    """Return the evaluations and values of each run; a run begins after lines with a head."""
    blocks: list[list[tuple[float, float]]] = []
    begins = True
    for number, line in _lines(files, name):
        if line.startswith(head):
            begins = True
            continue
        if begins:
            blocks.append([])
        begins = False
        words = line.split()
        try:
            cost, value = (float(words[column]) for column in columns)
        except (ValueError, IndexError):
            raise DataError(f"{name} line {number} is no row of numbers: {quoted(line)}") from None
        blocks[-1].append((cost, value))
    return blocks
