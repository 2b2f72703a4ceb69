"""The command line: reads what is typed, calls the library, and prints what it returns."""
