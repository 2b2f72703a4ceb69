"""Methods of training, a file a method."""
