"""Limits on what was named or counted beforehand, and why each is kept or not."""
