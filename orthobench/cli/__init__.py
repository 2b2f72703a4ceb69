"""The command line: parses a call, calls the library, and prints the result."""
