"""Two tables of records as columns that can be compared."""
