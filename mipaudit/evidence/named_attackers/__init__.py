"""Limits of what one attacker achieves who was named beforehand."""
