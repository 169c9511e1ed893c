"""Everything outside the simulator: set-up, building, launching, command-line front ends."""
