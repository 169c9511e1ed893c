"""Regressions: many jobs, one machine or a farm, one engine.

The package is split so that each module can be read alone: `config` turns the readable YAML into
`spec` objects, `engine` hands them to Dask workers, `supervise` runs each one as a child process
with a time limit, `store` and `history` keep what came back, and `view`, `buckets`, `junit` and
`report` show it. Nothing is imported here: a job's process must start quickly.
"""
