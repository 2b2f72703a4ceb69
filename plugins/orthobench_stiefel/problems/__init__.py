"""Problems of the Stiefel manifold and the orthogonal group."""
