"""Results of other harnesses."""
