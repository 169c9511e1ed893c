"""Serving: requests through the engine, every chip program of it on the RTL."""
