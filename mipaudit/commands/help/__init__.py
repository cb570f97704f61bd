"""``mipaudit help``: topics such as exit-codes or policy."""
