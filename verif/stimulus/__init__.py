"""Program generators: directed and constrained-random, pure Python, no simulator in sight."""
