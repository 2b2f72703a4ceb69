"""Problems on the orthogonal group."""
