"""What BASE and HEAD mean, and the interpreter that runs each."""
