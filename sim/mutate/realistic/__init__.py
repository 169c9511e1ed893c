"""Realistic faults of the RTL (tests/realistic_faults): which check finds each, and how soon."""
