"""The code that runs in a side's interpreter: the standard library, and the side's orthobench.

These files are the comparing installation's, loaded from this folder as a package of another name.
So they import each other relatively, and of orthobench only what `worker.names` gives.
"""
