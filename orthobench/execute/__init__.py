"""The loop that runs cells, and its schedulers."""
