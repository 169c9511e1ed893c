"""What the mutation campaign and its simulations share: tasks, test series, verdicts."""
