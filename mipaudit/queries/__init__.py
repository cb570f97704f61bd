"""Records to scores: what queries against synthetic records say of a record, on arrays."""
