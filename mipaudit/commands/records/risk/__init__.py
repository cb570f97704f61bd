"""Cells of records, the risk of each, and what groups have to fear."""
