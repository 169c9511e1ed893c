"""What travels: programs, bursts, jobs and results."""
