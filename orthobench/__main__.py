"""``python -m orthobench`` is ``orthobench``."""

from orthobench.cli.main import main

main()
