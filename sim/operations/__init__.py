"""What follows from the table of operations: generated RTL, and what an operation still lacks."""
