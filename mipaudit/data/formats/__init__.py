"""Files of scores and records in their formats: CSV, Parquet, and folders that name columns."""
