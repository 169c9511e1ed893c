"""Which coverage bins a program hits: pure functions from instructions and data to bin names.

Points and bins are declared in verif/testplan.yaml; a hit is a pair (point, bin).
"""
