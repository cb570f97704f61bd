"""Counts in bins of equal width."""
