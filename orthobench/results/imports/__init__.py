"""Results of other harnesses, read into a store: a reader for each format, and what keeps them."""
