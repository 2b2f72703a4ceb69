"""Problems of symmetric Tucker decomposition."""
