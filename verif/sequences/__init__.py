"""Sequences: what is played, item by item."""
