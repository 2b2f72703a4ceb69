"""The site of an atlas: static pages that need no network."""

from orthobench.atlas.site.write import write_site

__all__ = ["write_site"]
