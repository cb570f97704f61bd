"""``mipaudit simulate``: score files of which the truth is known."""
