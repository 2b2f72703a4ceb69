"""Problems of the polar factor."""
