"""Noise for membership-inference privacy: calibration and mechanisms, on arrays."""
