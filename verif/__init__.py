"""Verification of GA-2: testbench in HDL, pyuvm components, stimulus, tests."""
