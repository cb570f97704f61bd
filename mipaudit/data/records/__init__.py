"""Tables of records: whole columns, or features that are read piece by piece."""
