"""What plugins are installed, and whether a suite can be run."""
