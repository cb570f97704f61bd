"""Numbers, names and verdicts as text: rounded outward, safe to print."""
