"""``mipaudit compare``: which of several queries leaks most, and by how much."""
