"""What every tool shares: command line, files, processes, results, tables."""
