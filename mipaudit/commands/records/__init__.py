"""``mipaudit records``: how exposed every record is, and which groups are."""
