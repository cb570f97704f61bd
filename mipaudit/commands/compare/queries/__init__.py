"""Several queries, counted and compared side by side."""
