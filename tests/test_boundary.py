"""The core knows no plugin, and the command line stays light."""

import ast
import subprocess
import sys
from pathlib import Path

import orthobench

CORE = Path(orthobench.__file__).parent
HEAVY = {"numba", "matplotlib", "sklearn", "scipy", "pandas", "pooch"}


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_core_imports_no_plugin():
    modules = {name for path in CORE.rglob("*.py") for name in imported(path)}
    assert "orthobench.contract.solver" in modules
    assert not {name for name in modules if name.startswith("orthobench_")}


def test_the_command_line_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from orthobench.cli.main import main\n"
        "for words in (['--help'], ['run', '--help'], ['list'], ['show', 'msg']):\n"
        "    main(words, standalone_mode=False)\n"
        f"    print('HEAVY', sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if "HEAVY" in line] == 4 * ["HEAVY []"]
