"""Checks of the software side that need no simulator."""
