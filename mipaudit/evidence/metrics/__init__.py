"""Metrics of guesses other than the advantage."""
