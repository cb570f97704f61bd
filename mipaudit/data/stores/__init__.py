"""Objects of stores: addresses, access, faults."""
