"""Cells of the score axis, and the map from scores to cells."""
