"""Independent runs: one score for each trained model."""
