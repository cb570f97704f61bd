"""Limits of what the best attacker of a class achieves."""
