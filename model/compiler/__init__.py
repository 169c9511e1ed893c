"""From a tensor graph to a GA-2 program: scales, placement, code."""
