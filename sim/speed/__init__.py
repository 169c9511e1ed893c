"""How fast the flow is (``make bench``)."""
