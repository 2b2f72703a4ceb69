"""Races: the answer for one problem, in the time that is given."""
