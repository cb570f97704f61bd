"""Tables that can be drawn at any size, and what is true of them."""
