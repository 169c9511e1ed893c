"""Gate-level simulation of synthesized netlists (``make gls``)."""
