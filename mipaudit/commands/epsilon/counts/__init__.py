"""Epsilon from counts, from one model, and against a claimed curve."""
