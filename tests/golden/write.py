"""Write the golden values again, of the code of this environment: of all solvers, or of some.

    python tests/golden/write.py [SOLVER ...]

At another commit: copy this folder into its checkout, and use an environment with that code.
"""

import sys

import golden

from orthobench.tools.environment import limited

if __name__ == "__main__":
    with limited(1):
        cells = golden.write(sys.argv[1:])
    size = golden.VALUES.stat().st_size
    print(f"{len(cells)} cells of {golden.commit()} in {golden.VALUES}: {size:,} bytes")  # noqa: T201
