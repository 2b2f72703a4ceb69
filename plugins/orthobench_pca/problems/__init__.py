"""Problems of PCA."""
