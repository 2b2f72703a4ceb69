"""What BASE and HEAD mean, and an interpreter for each."""
