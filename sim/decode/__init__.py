"""The main job: the windowed decode workload on the RTL (``make``, ``make compare``)."""
