"""How a run happens: one loop, one clock, what ends it, how it is judged, and who runs many."""
