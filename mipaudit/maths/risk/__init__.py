"""The risk of the records in a cell."""
