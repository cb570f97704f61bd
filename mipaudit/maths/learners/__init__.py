"""Scores that are learned: logistic, boosted, nearest rows."""
