"""Confidence limits of proportions, means and sums."""
