"""Placeholder docstring replaced by the plugin."""
