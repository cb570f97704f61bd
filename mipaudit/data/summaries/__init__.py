"""Summary files, and an input that is made of them."""
