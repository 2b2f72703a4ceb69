"""Problems of optimization on the Stiefel manifold and the orthogonal group."""
