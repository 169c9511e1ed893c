"""Everything outside the simulator: set-up, building, launching, command-line front ends."""

from sim.shared import interrupts as interrupts
