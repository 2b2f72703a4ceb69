"""Problems of stochastic PCA."""
