"""Tables of records, as the queries compare them."""
