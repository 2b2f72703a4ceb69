"""Which cell runs next, and what becomes of it: the loop that runs cells, and its schedulers."""
