"""Numbers and names as text: rounded outward, safe to print."""
