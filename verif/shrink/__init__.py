"""Reduces a failing program to what the failure needs; knows nothing of any simulator.

Every step is a generator: it yields a simpler candidate, is sent whether that still fails, and
returns the simplest that did. Whoever drives it plays the candidates.

Hypothesis would shrink its own draws, but cannot start from a program that it did not draw itself,
and what it draws from a seed changes with its version; a failing program here may come from
anywhere: a seed, a directed list, a compiled workload.
"""
