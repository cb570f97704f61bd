"""Figures of the papers, computed anew: one module each, listed in the catalogue."""
