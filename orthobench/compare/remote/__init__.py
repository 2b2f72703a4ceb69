"""Code for a side's interpreter, on top of the standard library and the side's orthobench.

These files are loaded as a package of another name, so they import each other relatively, and
names of orthobench only through `worker.names`.
"""
