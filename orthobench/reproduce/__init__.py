"""Papers reproduced: their suites run, their claims checked, their pages written."""
