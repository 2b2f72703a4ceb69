"""Problems of training."""
