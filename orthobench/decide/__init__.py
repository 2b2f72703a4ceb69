"""Which method to use: as good as the best at the least cost, decided in one place.

`rule` decides between the solvers of one problem, `answer` over problems, `wording` says it.
"""
