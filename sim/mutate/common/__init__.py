"""What both mutation tools share: outcomes, their store, stages, scores."""
