"""Maps functions over the partitions of an input: on threads, processes or a cluster."""
