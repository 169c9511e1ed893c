"""What cocotb runs inside the simulator."""
