"""Where a report comes from."""
