"""Parquet files, and Arrow's columns."""
