"""``mipaudit attack``: what the named attacks of the literature achieve."""
