"""Methods of training."""
