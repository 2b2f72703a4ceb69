"""Problems of CCA and of pencils."""
