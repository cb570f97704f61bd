"""Records to scores, and the named adversaries of the literature, on arrays."""
