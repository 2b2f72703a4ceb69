"""Which side is slower, measured side by side."""
