"""Reports of results: tables in the terminal, figures, and the interactive page."""
