"""Mergeable summaries: everything that is estimated is a function of these."""
