"""``mipaudit verify``: does a report follow from its scores."""
