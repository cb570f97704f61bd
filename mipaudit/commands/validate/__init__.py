"""``mipaudit validate``: does every limit hold, where the truth is known."""
