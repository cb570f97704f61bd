"""Tables to Arrow and from there to columns: one way in for all of them."""
