"""Output in the terminal: tables, listings and progress."""
