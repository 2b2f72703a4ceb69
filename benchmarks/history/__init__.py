"""Trackers for asv: imports, first runs, the harness and the store.

asv imports every module of this folder, and nothing else of ``benchmarks/``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
