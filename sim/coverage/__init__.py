"""Coverage: runs what is needed, merges it over runs and simulators, names every hole."""
