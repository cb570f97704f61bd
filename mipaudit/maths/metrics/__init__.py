"""Metrics of an attacker's guesses, and limits of their best values."""
