"""The interactive page: one file that opens from disk, without a network."""

from orthobench.report.page.write import write_page

__all__ = ["write_page"]
