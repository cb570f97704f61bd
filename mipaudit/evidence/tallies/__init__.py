"""Rows in memory and rows by group, as several commands count them."""
