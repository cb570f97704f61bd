"""The figures of MACE: one trained network, and the estimates by every query."""
