"""A character model trained on real text: shape, weights, training, measurements."""
