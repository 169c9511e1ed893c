"""The mutants of the RTL against the proofs: does a property fail on each?"""
