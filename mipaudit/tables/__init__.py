"""Reading score files: the only room that knows CSV, Parquet, pandas and pyarrow."""
