"""``mipaudit query losses``: scores of what a model says of records."""
