"""CSV files of any size."""
