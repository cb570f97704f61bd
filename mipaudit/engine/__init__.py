"""Maps functions over the partitions of an input."""
