"""Builds of the simulators, and what plays jobs on them."""
