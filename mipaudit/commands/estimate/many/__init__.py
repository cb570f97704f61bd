"""Many audits at once, in Python."""
