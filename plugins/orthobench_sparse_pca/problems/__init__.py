"""Problems of sparse PCA."""
