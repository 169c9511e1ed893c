"""A private Slurm on this machine, to prove regressions on a real scheduler."""
