"""Which side is slower: both are timed side by side, and a sequential test decides."""
