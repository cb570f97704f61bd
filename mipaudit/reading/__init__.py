"""Reads scores, tables, vectors and summaries, whatever holds them."""
