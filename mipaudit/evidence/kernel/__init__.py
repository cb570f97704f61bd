"""Kernel densities: what noise would leave of the advantage."""
