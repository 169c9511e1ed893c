"""Mutation of the RTL and of the reference model."""
