"""Defaults, ranges and choices of all solvers, as in `settings.txt`.

Results are comparable only if these stay: change the file on purpose, and name the change in the
changelog. `python tests/plugins/test_settings.py` writes the file.
"""

from dataclasses import MISSING
from pathlib import Path

from orthobench.contract.parameters import parameters_of
from orthobench.registry.plugins import catalogue

FILE = Path(__file__).with_name("settings.txt")


def settings():
    kinds = catalogue().solvers, catalogue().problems
    found = [one.item for kind in kinds for _, named in sorted(kind.items()) for one in named.all]
    built_in = [cls for cls in found if cls.__module__.startswith("orthobench_")]
    return [line for cls in built_in for line in (heading(cls), *map(setting, parameters_of(cls)))]


def heading(cls):
    return f"{cls.name}, {cls.family if hasattr(cls, 'family') else cls.needs.__name__}"


def setting(parameter):
    default = "required" if parameter.default is MISSING else repr(parameter.default)
    grid = f"tuned over {', '.join(map(str, parameter.grid))}" if parameter.grid else ""
    rest = filter(None, (parameter.type_name, parameter.bounds, grid))
    return f"    {parameter.name} = {default}  ({'; '.join(rest)})"


def test_settings_are_those_that_results_were_made_with():
    assert settings() == FILE.read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    FILE.write_text("\n".join([*settings(), ""]), encoding="utf-8")
