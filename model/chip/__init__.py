"""The chip: instruction set, arithmetic, machine, cycle model, assembler."""
