"""Regressions: many jobs, one machine or a farm, one engine.

Each module can be read alone: ``suites`` turns the readable YAML into ``records``, ``planning``
makes a plan of them, or takes up an interrupted one if its ``inputs`` are still the same,
``session`` runs it: ``dispatch`` hands jobs to Dask workers (``clusters``, ``farms``), ``worker``
runs each as a child process with a time limit, ``run_folder`` and ``history`` keep what came back,
and ``display``, ``buckets``, ``summary`` and ``reports`` show it. Nothing is imported here: a job's
process must start quickly.
"""
