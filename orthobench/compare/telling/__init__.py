"""How a comparison is told: in a terminal, in a pull request, to machines."""
