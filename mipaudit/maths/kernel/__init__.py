"""Gaussian kernel densities, and limits from them."""
