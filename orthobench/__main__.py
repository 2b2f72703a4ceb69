"""``python -m orthobench`` is ``orthobench``."""

from orthobench.cli import main

main()
