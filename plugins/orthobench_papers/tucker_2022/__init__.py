"""Jin, Kileel, Kolda and Ward 2022: Scalable symmetric Tucker tensor decomposition."""
