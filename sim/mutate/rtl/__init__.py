"""Mutation campaign: seeded RTL faults, what kills them, and proofs for what nothing can kill."""
