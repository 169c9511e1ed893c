"""Environment: configuration, predictor, scoreboard, and how they are connected."""
