"""Noise itself: its shapes, samplers and moments."""
