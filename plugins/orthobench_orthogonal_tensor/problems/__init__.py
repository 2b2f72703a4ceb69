"""Problems of orthogonal tensor decomposition."""
