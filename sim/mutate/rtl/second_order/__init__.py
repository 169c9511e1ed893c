"""Faults that are not one token: what a class of them does to a module, a file each.

Each class is a function from a module (``module_view``) to mutants. ``CLASSES`` names them all.
"""
