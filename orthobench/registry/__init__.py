"""The installed plugins, and the checks of a suite before it runs."""
