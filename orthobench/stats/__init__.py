"""Statistics over seeds and problems: pure functions of records and of numbers."""
