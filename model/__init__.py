"""Reference model of GA-2 and of the workloads that run on it.

Nothing in this package reads the RTL or the testbench: it predicts memory contents, counters,
external traffic and retire records from the program alone.
"""
