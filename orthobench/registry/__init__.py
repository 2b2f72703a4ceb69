"""What is installed, and whether a suite makes sense before any of it runs."""
