"""``mipaudit attribute``: how much better an attribute is guessed of members."""
