"""The test plan (``make testplan``)."""
