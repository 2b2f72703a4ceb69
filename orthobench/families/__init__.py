"""The families of problems, a folder each: oracle, judge, kinds of solutions, instance makers.

A *family* is one optimization problem in general form. Its *oracle* is what a solver may ask, its
*judge* measures solutions after the run, its *maker* turns your own data into an instance, and the
problems of plugins derive from the base class in its module `problem`. The modules
`second_moments` and `symmetric_tensors` serve more than one family.
"""
