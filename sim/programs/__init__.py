"""Programs on the RTL: one, random, directed, reduced, traced, replayed."""
