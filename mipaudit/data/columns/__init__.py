"""Columns: which are scores, which membership, which rows count."""
