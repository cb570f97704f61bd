"""Records as points, and how near they lie to the synthetic ones."""
