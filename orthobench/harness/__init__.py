"""How one run happens, what identifies it, and how many are executed."""
