"""Reports of a comparison: for a terminal, for a pull request, and for machines."""
