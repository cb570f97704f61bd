"""Which row is which, and the seed that follows from all of them."""
