bus_watch.sv
instruction_memory.sv
external_memory.sv
retire_probe.sv
protocol_checker.sv
watchdog.sv
ga2_tb.sv
