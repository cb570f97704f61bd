"""Privacy guarantees as trade-off curves, and what they allow."""
