"""Write the golden values again, of the code of this environment: of all solvers, or of some.

    python tests/golden/write.py [SOLVER ...]

Prints which cells changed. At another commit: copy this folder into its checkout, and use an
environment with that code.
"""

import sys

import golden

from orthobench.tools.environment import limited

if __name__ == "__main__":
    with limited(1):
        new = golden.write(sys.argv[1:])
    size = golden.VALUES.stat().st_size
    said = [*new, f"{len(new)} cells are new or changed; {golden.VALUES}: {size:,} bytes"]
    print("\n".join(said))  # noqa: T201
