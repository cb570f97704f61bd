"""Scores of what a model says of records."""
