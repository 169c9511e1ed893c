"""Formal proofs of the RTL (``make formal``)."""
