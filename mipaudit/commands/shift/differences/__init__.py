"""What differs between two tables: columns, whole records, copies, learned scores."""
