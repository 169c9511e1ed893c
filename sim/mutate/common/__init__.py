"""What both mutation tools share: findings, their store, stages, scores."""
