"""The page docs/_static/history.html: what asv measures of the last commits of main.

    python benchmarks/recent.py            # 30 commits, a quarter of a minute of a processor each
    python benchmarks/recent.py --smoke    # the newest, once, in a folder of its own

What is measured already is not measured again, so that the next call goes on.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "_static" / "history.html"
BENCHMARKS = r"^imports.*(_import|plugins)|^overhead.*(cells|fill)"
"""CPU seconds of what is around solvers; theirs would take minutes for each commit."""

QUICK = ("repeat=2", "rounds=1", "warmup_time=0")


def main() -> None:
    """Measure, publish, and copy the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--bench", default=BENCHMARKS, help="regular expression of benchmarks")
    parser.add_argument("--smoke", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) if given.smoke else ROOT / ".asv"
        text = (ROOT / "asv.conf.json").read_text(encoding="utf-8")
        config = ROOT / ".asv.conf.json"  # beside the other: paths in it begin there
        config.write_text(text.replace('".asv/', json.dumps(f"{out}/")[:-1]), encoding="utf-8")
        try:
            commits, bench = (1, "imports.track_import") if given.smoke else (
                given.commits, given.bench)  # fmt: skip
            asv(config, "machine", "--yes")
            asv(config, "run", f"--first-parent -n {commits} HEAD", "--bench", bench,
                "--skip-existing-successful", "--launch-method", "spawn",
                *(word for one in QUICK for word in ("--attribute", one)))  # fmt: skip
            asv(config, "publish")
        finally:
            config.unlink()
        page = out / "html" / "history.html"
        if not given.smoke:
            shutil.copyfile(page, PAGE)
        print(f"{page.stat().st_size:,} bytes")  # noqa: T201


def asv(config: Path, *words: str) -> None:
    """Run asv, and stop where it fails."""
    name, *rest = words
    subprocess.run(
        [sys.executable, "-m", "asv", name, "--config", str(config), *rest],
        check=True, cwd=ROOT, stdin=subprocess.DEVNULL,
    )  # fmt: skip


if __name__ == "__main__":
    main()
